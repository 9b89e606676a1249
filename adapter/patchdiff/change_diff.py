"""One change side by side: the lines around its place before and after it, with what differs.

The place is known, so that nothing is searched for in the document: only the lines of the change
and a few around it are looked at, and only a bounded number of them is compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import Final, Literal, NamedTuple

CONTEXT_LINES: Final = 3
"""Unchanged lines shown before and after what changed."""

MAXIMUM_ROWS: Final = 120
"""Rows shown of one change; what is left out is counted."""

LONGEST_LINE: Final = 400
"""Code points shown of one line; what is left out is counted."""

_MARGIN: Final = 80
_LONGEST_WORD: Final = 40
_COMPARED_LINES: Final = 1_000
_COMPARISONS: Final = 100_000
_COMPARED_CODE_POINTS: Final = 300
_LEAST_ALIKE: Final = 0.3
_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class Surroundings:
    """What stands around a place in a text: up to three whole lines before it and after it, and the
    rest of the lines that it begins and ends in."""

    first_line: int
    """One-based number of the line that the place begins in."""

    lines_before: tuple[str, ...] = ()
    prefix: str = ""
    prefix_cut: int = 0
    """Code points of the line before `prefix` that are not in it."""

    suffix: str = ""
    """What follows on the place's last line, with its line feed where nothing is cut off."""

    suffix_cut: int = 0
    """Code points of that line after `suffix`, its line feed not counted."""

    lines_after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A part of a shown line: text, in which `marked` is what differs from the other side; or, for
    `cut` above 0, that many code points left out."""

    text: str
    marked: bool = False
    cut: int = 0


@dataclass(frozen=True)
class Line:
    """One line of one side: its one-based number where it is known, and its parts.

    `ends` is false for the last line of a text that no line feed ends.
    """

    number: int | None
    runs: tuple[Run, ...]
    ends: bool = True


@dataclass(frozen=True)
class Row:
    """Two lines side by side: alike, changed (one of them may be missing), or, for `gap`, that many
    lines left out that are alike."""

    kind: Literal["alike", "changed", "gap"]
    old: Line | None = None
    new: Line | None = None
    gap: int = 0


@dataclass(frozen=True)
class ChangeDiff:
    """The rows of one change, and how many rows there would be beyond them."""

    rows: tuple[Row, ...]
    rows_left_out: int = 0


def surroundings(text: str, start: int, end: int) -> Surroundings:
    """What stands around the code points from start to end of a text; long lines are cut."""
    line_start = text.rfind("\n", 0, start) + 1
    kept_from = max(line_start, start - LONGEST_LINE // 2)
    before: list[str] = []
    reached = line_start
    while reached > 0 and len(before) < CONTEXT_LINES:
        previous = text.rfind("\n", 0, reached - 1) + 1
        before.insert(0, text[previous:reached])
        reached = previous
    line_end = _line_end(text, end)
    line_stop = line_end - text.endswith("\n", end, line_end)
    kept_to = end + LONGEST_LINE // 2 if end + LONGEST_LINE // 2 < line_stop else line_end
    after: list[str] = []
    reached = line_end
    while reached < len(text) and len(after) < CONTEXT_LINES:
        following = _line_end(text, reached)
        after.append(text[reached:following])
        reached = following
    return Surroundings(
        first_line=text.count("\n", 0, line_start) + 1,
        lines_before=tuple(before),
        prefix=text[kept_from:start],
        prefix_cut=kept_from - line_start,
        suffix=text[end:kept_to],
        suffix_cut=max(0, line_stop - kept_to),
        lines_after=tuple(after),
    )


def change_diff(old: str, new: str, around: Surroundings | None) -> ChangeDiff:
    """Compare the texts of a change at its place; None stands for an unknown place, which has
    neither line numbers nor context."""
    sides = _pieces(old, around), _pieces(new, around)
    first = None if around is None else around.first_line - len(around.lines_before)
    places = _places(*sides)
    rows = tuple(_row(place, *sides, first) for place in islice(places, MAXIMUM_ROWS))
    return ChangeDiff(rows, sum(1 for _ in places))


class _Piece(NamedTuple):
    """A line with its line feed, and how many code points are cut off before and after it.

    `open_end` says that what follows it is unknown.
    """

    text: str
    cut_before: int = 0
    cut_after: int = 0
    open_end: bool = False

    @property
    def line(self) -> str:
        return self.text.removesuffix("\n")

    @property
    def ends(self) -> bool:
        return self.open_end or self.cut_after > 0 or self.text.endswith("\n")


class _Place(NamedTuple):
    """Which lines of the two sides a row shows, or how many alike ones it leaves out."""

    old: int | None
    new: int | None
    alike: bool
    gap: int = 0


def _line_end(text: str, start: int) -> int:
    """Where the line that goes on at start ends, its line feed included."""
    return text.find("\n", start) + 1 or len(text)


def _pieces(core: str, around: Surroundings | None) -> list[_Piece]:
    unplaced = around is None
    around = around or Surroundings(1)
    *whole, rest = f"{around.prefix}{core}{around.suffix}".split("\n")
    lines = [_Piece(f"{line}\n") for line in whole]
    if rest and unplaced:
        # what follows is unknown: most likely the line goes on
        lines.append(_Piece(rest, open_end=True))
    elif rest or around.suffix_cut:
        lines.append(_Piece(rest, 0, around.suffix_cut))
    if around.prefix_cut:
        lines[0] = lines[0]._replace(cut_before=around.prefix_cut)
    return [
        *(_Piece(line) for line in around.lines_before),
        *lines,
        *(_Piece(line) for line in around.lines_after),
    ]


def _places(old: Sequence[_Piece], new: Sequence[_Piece]) -> Iterator[_Place]:
    """The rows in order: what differs, with the alike lines next to it."""
    shorter = min(len(old), len(new))
    head = _length_of_true(old[i] == new[i] for i in range(shorter))
    tail = _length_of_true(old[-1 - i] == new[-1 - i] for i in range(shorter - head))
    for i in range(max(0, head - CONTEXT_LINES), head):
        yield _Place(i, i, alike=True)
    middle = _opcodes(old[head : len(old) - tail], new[head : len(new) - tail])
    for tag, old_from, old_to, new_from, new_to in middle:
        olds, news = range(head + old_from, head + old_to), range(head + new_from, head + new_to)
        if tag != "equal":
            for i, j in zip_longest(olds, news):
                yield _Place(i, j, alike=False)
            continue
        gap = len(olds) - 2 * CONTEXT_LINES
        for n, (i, j) in enumerate(zip(olds, news, strict=True)):
            if gap <= 1 or not CONTEXT_LINES <= n < CONTEXT_LINES + gap:
                yield _Place(i, j, alike=True)
            elif n == CONTEXT_LINES:
                yield _Place(None, None, alike=True, gap=gap)
    for n in range(min(tail, CONTEXT_LINES)):
        yield _Place(len(old) - tail + n, len(new) - tail + n, alike=True)


def _opcodes(
    old: Sequence[_Piece], new: Sequence[_Piece]
) -> Sequence[tuple[str, int, int, int, int]]:
    """difflib's opcodes; where comparing could take long, one for all of it."""
    if not old and not new:
        return []
    if old and new and max(len(old), len(new)) <= _COMPARED_LINES:
        counts = Counter(new)
        if sum(counts[piece] for piece in old) <= _COMPARISONS:
            return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [("replace", 0, len(old), 0, len(new))]


def _row(place: _Place, old: Sequence[_Piece], new: Sequence[_Piece], first: int | None) -> Row:
    if place.gap:
        return Row("gap", gap=place.gap)

    def line(index: int, piece: _Piece, runs: Sequence[Run]) -> Line:
        before = [Run("", cut=piece.cut_before)] if piece.cut_before else []
        after = [Run("", cut=piece.cut_after)] if piece.cut_after else []
        number = None if first is None else first + index
        return Line(number, _cuts_joined([*before, *runs, *after]), piece.ends)

    i, j = place.old, place.new
    if i is not None and j is not None and not place.alike:
        old_runs, new_runs = _compared(old[i].line, new[j].line)
    else:
        old_runs = [] if i is None else _whole(old[i].line)
        new_runs = [] if j is None else _whole(new[j].line)
    return Row(
        "alike" if place.alike else "changed",
        None if i is None else line(i, old[i], old_runs),
        None if j is None else line(j, new[j], new_runs),
    )


def _cuts_joined(runs: Sequence[Run]) -> tuple[Run, ...]:
    joined: list[Run] = []
    for run in runs:
        if run.cut and joined and joined[-1].cut:
            joined[-1] = Run("", cut=joined[-1].cut + run.cut)
        else:
            joined.append(run)
    return tuple(joined)


def _whole(text: str, marked: bool = False, longest: int = LONGEST_LINE) -> list[Run]:
    """A text as one part, its middle left out where it is longer than allowed."""
    if len(text) <= longest:
        return [Run(text, marked)] if text else []
    return [
        Run(text[: longest - _MARGIN], marked),
        Run("", cut=len(text) - longest),
        Run(text[-_MARGIN:], marked),
    ]


def _compared(old: str, new: str) -> tuple[list[Run], list[Run]]:
    """Two lines, with what differs marked."""
    head, tail = _common_ends(old, new)
    middles = old[head : len(old) - tail], new[head : len(new) - tail]
    start = _start(old[:head])
    end = _end(old[len(old) - tail :])
    marked = _marked(*middles)
    return [*start, *marked[0], *end], [*start, *marked[1], *end]


def _start(text: str) -> list[Run]:
    if len(text) <= 2 * _MARGIN:
        return _whole(text)
    return [Run("", cut=len(text) - _MARGIN), Run(text[-_MARGIN:])]


def _end(text: str) -> list[Run]:
    if len(text) <= 2 * _MARGIN:
        return _whole(text)
    return [Run(text[:_MARGIN]), Run("", cut=len(text) - _MARGIN)]


def _marked(old: str, new: str) -> tuple[list[Run], list[Run]]:
    whole = tuple(_whole(text, True, LONGEST_LINE - 2 * _MARGIN) for text in (old, new))
    if max(len(old), len(new)) > _COMPARED_CODE_POINTS or not old or not new:
        return whole[0], whole[1]
    words = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, *words, autojunk=False)
    alike = sum(
        len(word) for i, _, n in matcher.get_matching_blocks() for word in words[0][i : i + n]
    )
    if alike < _LEAST_ALIKE * max(len(old), len(new)):
        return whole[0], whole[1]
    runs: tuple[list[Run], list[Run]] = ([], [])
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        for side, words_of, start, end in zip(
            runs, words, (old_from, new_from), (old_to, new_to), strict=True
        ):
            if start < end:
                side.append(Run("".join(words_of[start:end]), tag != "equal"))
    return runs


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many code points are alike at the beginning and the end, parts of words not counted."""
    shorter = min(len(old), len(new))
    lengths = range(1, shorter + 1)
    head = bisect_left(lengths, True, key=lambda n: old[:n] != new[:n])
    rest = shorter - head
    lengths = range(1, rest + 1)
    tail = bisect_left(lengths, True, key=lambda n: old[len(old) - n :] != new[len(new) - n :])
    return _to_word(old, new, head), _to_word(old[::-1], new[::-1], tail)


def _to_word(old: str, new: str, length: int) -> int:
    """The length without the beginning of a word that goes on differently on the two sides."""
    if not (old[length : length + 1].isalnum() or new[length : length + 1].isalnum()):
        return length
    back = length
    while back > 0 and old[back - 1].isalnum() and length - back < _LONGEST_WORD:
        back -= 1
    return length if length - back == _LONGEST_WORD else back


def _length_of_true(values: Iterator[bool]) -> int:
    length = 0
    for value in values:
        if not value:
            break
        length += 1
    return length
