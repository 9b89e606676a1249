"""The report's timeline: where each attempt and each checkpoint is drawn.

Attempts stand in their order, evenly, twenty a row: accepted ones on the line, rejected ones above
it. Lengths are units of the drawing, which is as wide as its view box says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_MARKS_A_ROW: Final = 20
_PITCH: Final = 48
_MARGIN: Final = 34
_ROW: Final = 104
_LINE: Final = 54
_REJECTED_ABOVE: Final = 30

WIDTH: Final = 2 * _MARGIN + (_MARKS_A_ROW - 1) * _PITCH


@dataclass(frozen=True)
class Mark:
    """One attempt: its place, its log entry, and the day where it is the first of one."""

    x: int
    y: int
    line_y: int
    entry: dict[str, Any]
    day: str | None


@dataclass(frozen=True)
class Checkpoint:
    """A save: its place, and the version that it saved."""

    x: int
    y: int
    version: int


@dataclass(frozen=True)
class Row:
    """One line of the timeline, from `x1` to `x2`."""

    x1: int
    x2: int
    y: int


@dataclass(frozen=True)
class Timeline:
    """The drawing: rows with marks and checkpoints, in its own units."""

    width: int
    height: int
    rows: tuple[Row, ...]
    marks: tuple[Mark, ...]
    checkpoints: tuple[Checkpoint, ...]


def timeline(
    entries: Sequence[dict[str, Any]], active_editing_cycle_id: str, version: int
) -> Timeline:
    """The drawing of attempts in their order, oldest first.

    An entry is one of list_attempts. A save is seen by its change of the editing cycle: several
    saves without an attempt between them are one checkpoint, and none is seen before the first.
    """
    marks: list[Mark] = []
    checkpoints: list[Checkpoint] = []
    day = None
    for n, entry in enumerate(entries):
        row, column = divmod(n, _MARKS_A_ROW)
        x, line_y = _MARGIN + column * _PITCH, row * _ROW + _LINE
        y = line_y if entry["status"] == "accepted" else line_y - _REJECTED_ABOVE
        its_day = entry["created_at"][:10]
        marks.append(Mark(x, y, line_y, entry, None if its_day == day and column else its_day))
        day = its_day
        following = entries[n + 1] if n + 1 < len(entries) else None
        cycle = active_editing_cycle_id if following is None else following["editing_cycle_id"]
        if cycle != entry["editing_cycle_id"]:
            saved = version if following is None else following["before_version"]
            checkpoints.append(Checkpoint(x + _PITCH // 2, line_y, saved))
    count = -(-len(entries) // _MARKS_A_ROW)
    rows = []
    for row in range(count):
        last = min(_MARKS_A_ROW, len(entries) - row * _MARKS_A_ROW) - 1
        end = WIDTH if row + 1 < count else _MARGIN + last * _PITCH + _PITCH // 2
        rows.append(Row(0 if row else _MARGIN // 2, end, row * _ROW + _LINE))
    return Timeline(WIDTH, count * _ROW, tuple(rows), tuple(marks), tuple(checkpoints))
