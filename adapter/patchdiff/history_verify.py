"""`patchdiff verify`: whether the recorded history of targets is intact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from patchdiff import database
from patchdiff.history import PAGE, known, reading
from patchdiff.printable import printable
from patchdiff.settings import Settings
from patchdiff.terminal import STYLES, console


def run(settings: Settings, target_file_id: str | None) -> int:
    """Verify one target, or all of them for None, and print what is damaged.

    The answer is 0 when all are intact and 1 otherwise. Raises StartupError.
    """
    out = console()
    damaged = count = 0
    progress = _progress()
    with reading(settings) as connection, progress:
        task = progress.add_task("verifying", total=None)
        for target, total in _targets(connection, target_file_id):
            answer = known(database.verify_target(connection, target))
            count += 1
            # an interrupted bar leaves its line to what is printed
            if answer["status"] != "intact" or target_file_id is not None:
                progress.stop()
                _print(out, answer)
                progress.start()
            damaged += answer["status"] != "intact"
            progress.update(task, completed=count, total=max(total, count))
    if target_file_id is None:
        noun = "target" if count == 1 else "targets"
        out.print(f"{count:,} {noun} verified: {count - damaged:,} intact, {damaged:,} damaged.")
    return 1 if damaged else 0


def _progress() -> Progress:
    """A bar on standard error, which goes away at the end; nothing where that is no terminal."""
    err = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=not err.is_terminal,
    )


def _targets(
    connection: psycopg.Connection[Any], target_file_id: str | None
) -> Iterator[tuple[str, int]]:
    """The ids to verify, each with the number of all."""
    if target_file_id is not None:
        yield target_file_id, 1
        return
    after: str | None = None
    while True:
        page = database.list_targets(connection, limit=PAGE, after_target_file_id=after)
        for target in page["targets"]:
            yield target["target_file_id"], page["total"]
        after = page["next_target_file_id"]
        if after is None:
            return


def _print(out: Console, answer: dict[str, Any]) -> None:
    line = Text()
    line.append(answer["status"], STYLES[answer["status"]])
    line.append(f"  {answer['target_file_id']}  {printable(answer['filename'])}")
    line.append(f", version {answer['version']}, hash {printable(answer['current_hash'])}")
    out.print(line, soft_wrap=True)
    for failure in answer["failures"]:
        out.print(Text(f"  {failure_line(failure)}"), soft_wrap=True)


def failure_line(failure: dict[str, Any]) -> str:
    """One failure of verify_target as a line: check, attempt, code and sentence."""
    sequence = failure.get("log_sequence")
    where = "" if sequence is None else f", log sequence {sequence}"
    text = f"{failure['check']}{where}: {failure['failure_detail']} ({failure['code']})"
    return printable(text)
