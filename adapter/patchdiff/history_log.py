"""`patchdiff log`: a target's attempts, newest first."""

from __future__ import annotations

from typing import Any

from rich.padding import Padding
from rich.text import Text

from patchdiff.history import attempts, reading
from patchdiff.printable import printable
from patchdiff.settings import Settings
from patchdiff.terminal import STYLES, console, write

_TITLES = ("sequence", "time (UTC)", "status", "version", "failure reason")


def run(
    settings: Settings,
    target_file_id: str,
    limit: int,
    before_sequence: int | None,
    status: str | None,
) -> None:
    """Print a page of the log, and how to get the next one. Raises StartupError."""
    with reading(settings) as connection:
        entries, following = attempts(connection, target_file_id, limit, before_sequence, status)
    out = console()
    if not entries:
        out.print("There are no such attempts.")
        return
    rows = [_cells(entry) for entry in entries]
    widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
    out.print(_line(_TITLES, widths, "bold"), soft_wrap=True)
    indent = widths[0] + 2
    for entry, row in zip(entries, rows, strict=True):
        out.print(_line(row, widths, ""), soft_wrap=True)
        for text, style in _details(entry):
            shown = Text(printable(text), style, overflow="fold")
            write(out, Padding(shown, (0, 0, 0, indent)))
    if following is not None:
        filtered = "" if status is None else f" --status {status}"
        out.print(
            f"There are older ones: patchdiff log {target_file_id} --limit {limit}"
            f"{filtered} --before {following}",
            soft_wrap=True,
        )


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(entry["log_sequence"]),
        entry["created_at"].replace("T", " ").removesuffix("Z"),
        entry["status"],
        versions(entry),
        entry["failure_reason"] or "",
    )


def versions(entry: dict[str, Any]) -> str:
    """The version before an attempt, and the one that it made if it was accepted."""
    before, after = entry["before_version"], entry["after_version"]
    return str(before) if after is None else f"{before} → {after}"


def _line(cells: tuple[str, ...], widths: list[int], style: str) -> Text:
    line = Text(style=style)
    for n, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        padded = cell.rjust(width) if n == 0 else cell.ljust(width)
        line.append(printable(padded), STYLES.get(cell, "red" if n == 4 and not style else None))
        line.append("  ")
    line.rstrip()
    return line


def _details(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """The intent, and who sent the attempt with its id, which never breaks at 80 columns."""
    intent = entry["intent"]
    lines = []
    if intent is not None:
        lines.append((f"{intent}…" if entry["intent_truncated"] else intent, ""))
    lines.append((f"{entry['pdcp_log_id']} by {entry['source'] or 'unknown'}", "dim"))
    return lines
