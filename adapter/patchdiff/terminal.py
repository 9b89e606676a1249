"""How the commands for people write to a terminal of 80 columns or more, and plainly to a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from io import TextIOWrapper

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from patchdiff.change_diff import ChangeDiff, Line, Row, Run
from patchdiff.printable import printable

STYLES = {"accepted": "green", "intact": "green", "rejected": "red", "damaged": "red"}
"""The colours of statuses."""

_SIGNS = {"old": ("-", "red", "bold red reverse"), "new": ("+", "green", "bold green reverse")}


def console() -> Console:
    """The console of standard output; characters that its encoding lacks become question marks."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, markup=False, emoji=False)


def write(out: Console, what: RenderableType) -> None:
    """Print what fills its lines with spaces, without them where no terminal shows it."""
    if out.is_terminal:
        out.print(what)
        return
    with out.capture() as captured:
        out.print(what)
    for line in captured.get().splitlines():
        out.file.write(f"{line.rstrip(' ')}\n")


def facts(named: Mapping[str, object], width: int | None = None) -> Table:
    """Names and values, one pair a line; values are folded where they are longer. None is left
    out. `width` is the column of the names."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True, width=width)
    table.add_column(overflow="fold", ratio=1)
    for name, value in named.items():
        if value is not None:
            text = printable_lines(str(value))
            table.add_row(name, Text(text, style=STYLES.get(text, "")))
    return table


def printable_lines(text: str) -> str:
    """The text made printable, its line feeds kept."""
    return "\n".join(printable(line) for line in text.split("\n"))


def diff(change: ChangeDiff) -> Table:
    """A change as a unified diff with the line numbers of both sides."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    for row in _removed_first(change.rows):
        if row.gap:
            table.add_row("", "", "", Text(f"… {row.gap:,} lines alike …", style="dim"))
        elif row.kind == "alike":
            assert row.old is not None
            assert row.new is not None
            table.add_row(_number(row.old), _number(row.new), " ", _line(row.old, "", "dim"))
        elif row.old is not None:
            sign, style, marked = _SIGNS["old"]
            table.add_row(_number(row.old), "", Text(sign, style), _line(row.old, style, marked))
        elif row.new is not None:
            sign, style, marked = _SIGNS["new"]
            table.add_row("", _number(row.new), Text(sign, style), _line(row.new, style, marked))
    if change.rows_left_out:
        note = f"… {change.rows_left_out:,} more lines are not shown …"
        table.add_row("", "", "", Text(note, style="dim"))
    return table


def _removed_first(rows: Iterable[Row]) -> Iterable[Row]:
    """The rows with one line each, the old lines of a run of changes before its new ones."""
    waiting: list[Row] = []
    for row in rows:
        if row.kind == "changed":
            if row.old is not None:
                yield Row("changed", old=row.old)
            if row.new is not None:
                waiting.append(Row("changed", new=row.new))
            continue
        yield from waiting
        waiting = []
        yield row
    yield from waiting


def _number(line: Line) -> str:
    return "" if line.number is None else str(line.number)


def _line(line: Line, style: str, marked: str) -> Text:
    text = Text(style=style)
    for run in line.runs:
        text.append(_run(run), marked if run.marked else "dim" if run.cut else None)
    if not line.ends:
        text.append(" (no line feed)", "dim")
    return text


def _run(run: Run) -> str:
    return f"… {run.cut:,} more …" if run.cut else printable(run.text)
