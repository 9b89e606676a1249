"""Windows of a text that differ from a query by a few code points, found exactly and with a bounded
amount of work.

A window begins at any code point of the text and has the query's length, one less or one more. Its
distance is the code-point Levenshtein distance to the query; it qualifies from 1 to
``distance_limit``. Three steps find the qualifying windows without measuring every one of them:

1. Of ``limit + 1`` disjoint pieces of the query, one stands unchanged in a qualifying window, near
   its own place. Only window starts beside an occurrence of a piece remain.
2. Of any number of disjoint pieces, at most ``limit`` are missing near their places.
3. A diagonal-wave comparison (Landau and Vishkin), limited to the diagonals that a qualifying
   window can use (Ukkonen), measures the three windows of a remaining start at once.

The first two steps only leave out starts without a qualifying window, so the result is that of an
exhaustive comparison. Contract: "Exact candidates, consumed matches and near misses".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from patchdiff.search import occurrences

LARGEST_DISTANCE = 4

_LENGTHS = (-1, 0, 1)
"""A window's length less the query's, which is also the diagonal its last cell lies on."""

_BLOCK = 16_384
_REMEMBERED = 4_096


class Window(NamedTuple):
    """A window of the text: its distance to the query and its place, code points, end exclusive.

    Windows compare in the order of the ranking.
    """

    distance: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Search:
    """What a search found: the best places in ranking order, and the work it took.

    ``windows`` are the qualifying windows in the order distance, start, end, without those that
    overlap an earlier one, as many as were asked for. ``scanned_end`` is the end of the range of
    window starts that were searched: the text's length, unless the cell limit came first.
    ``evaluations`` counts the window starts that were measured, ``comparison_cells`` their cells.
    """

    windows: tuple[Window, ...]
    scanned_end: int
    evaluations: int
    comparison_cells: int


class Evaluation(NamedTuple):
    """What the measure of one window start found.

    ``windows`` are the distance and length of its qualifying windows, the shorter ones first.
    ``cells`` is the work: ``max(1, min(len(query), reached_row)) * (2 * band_radius + 1)``, where
    reached_row is the largest number of the query's code points that could be aligned within the
    limit, on any diagonal of the band: all of them whenever a window is within the limit. What lies
    past the text differs from every code point.
    """

    windows: tuple[tuple[int, int], ...]
    cells: int


def distance_limit(query_chars: int) -> int:
    """The largest distance at which a window qualifies for a query of that many code points."""
    return min(LARGEST_DISTANCE, max(1, query_chars // 4))


def band_radius(limit: int) -> int:
    """How far from the main diagonal a comparison within ``limit`` can get.

    A path that leaves for diagonal d and ends on diagonal -1, 0 or 1 needs at least
    ``|d| + |d| - 1`` insertions and deletions.
    """
    return (limit + 1) // 2


def search(text: str, query: str, places: int, cell_limit: int) -> Search:
    """Finds the ``places`` best windows of ``text`` for ``query``, no two of them overlapping.

    The measured window start whose cells would exceed ``cell_limit`` ends the search and counts for
    nothing; the result is then exact for the starts before it. ``query`` must not be empty.
    """
    chars = len(query)
    limit = distance_limit(chars)
    evaluate = evaluator(query)
    reach = chars + band_radius(limit)
    by_distance: list[list[tuple[int, int]]] = [[] for _ in range(limit + 1)]
    evaluations = cells = 0
    end = len(text)
    for start in _possible_starts(text, query, limit):
        evaluation = evaluate(text[start : start + reach])
        if evaluation is None:
            continue
        windows, start_cells = evaluation
        if cells + start_cells > cell_limit:
            end = start
            break
        cells += start_cells
        evaluations += 1
        for distance, length in windows:
            by_distance[distance].append((start, start + length))
    return Search(tuple(_places(by_distance, places)), end, evaluations, cells)


def evaluator(query: str) -> Callable[[str], Evaluation | None]:
    """The measure of one window start, as a function of the text that begins there.

    The function takes ``len(query) + band_radius`` code points, fewer at the end of the text, and
    answers None when the missing pieces alone show that no window of this start qualifies. It
    remembers its latest answers: repetitive text asks the same again and again.
    """
    chars = len(query)
    limit = distance_limit(chars)
    radius = band_radius(limit)
    # pieces of two code points: shorter ones are everywhere, longer ones hide a second difference
    pieces = [
        (query[first:last], max(0, first - radius), last + radius)
        for first, last in _partition(chars, max(1, chars // 2))
    ]

    def evaluate(beginning: str) -> Evaluation | None:
        missing = 0
        for piece, low, high in pieces:
            if beginning.find(piece, low, high) < 0:
                missing += 1
                if missing > limit:
                    return None
        return _waves(query, beginning, limit, radius)

    return lru_cache(_REMEMBERED)(evaluate)


def _possible_starts(text: str, query: str, limit: int) -> Iterable[int]:
    """The starts, ascending, of every window that can qualify, and of some that cannot.

    Let the query be cut into ``limit + 1`` pieces and an alignment have at most ``limit`` errors.
    Going through the pieces, the errors so far fall behind the number of pieces so far for a first
    time: at a piece i without error, exactly i errors to its left and so at most ``limit - i`` to
    its right. It therefore stands unchanged on a diagonal at most i away from the first, and at
    most ``limit - i`` away from the last, which is -1, 0 or 1.
    """
    chars = len(query)
    stop = len(text) - max(1, chars - 1) + 1
    if limit >= chars:
        return range(stop)
    pieces = [
        (query[first:last], first, min(number, limit - number + 1))
        for number, (first, last) in enumerate(_partition(chars, limit + 1))
    ]
    return _starts_beside(text, pieces, stop)


def _starts_beside(text: str, pieces: Sequence[tuple[str, int, int]], stop: int) -> Iterable[int]:
    """The window starts below ``stop`` from which a piece, given with its place and the shift it
    may have, is found: block after block, so that a search that ends early has not gone through
    the whole text."""
    for low in range(0, stop, _BLOCK):
        high = min(stop, low + _BLOCK)
        starts: set[int] = set()
        for piece, place, shift in pieces:
            first = max(0, low + place - shift)
            found = occurrences(text[first : high + place + shift + len(piece) - 1], piece)
            for offset in range(first - place - shift, first - place + shift + 1):
                starts.update([position + offset for position in found])
        yield from sorted(start for start in starts if low <= start < high)


def _waves(query: str, beginning: str, limit: int, radius: int) -> Evaluation:
    """Measures the windows at the start of ``beginning`` within ``limit``.

    Row i of diagonal d compares code point i of the query with code point i + d of the text. Wave
    e holds, per diagonal, the furthest row that e errors reach.
    """
    chars = len(query)
    # what differs from every code point, and from each other, ends a comparison on both sides
    row_of: list[str | None] = [*query, None]
    column_of = [*beginning, *[""] * (chars + radius + 1 - len(beginning))]
    unreached = -chars - limit - 2
    # diagonal d is at index d + radius + 1, with one more on each side that nothing reaches
    wave = [unreached] * (2 * radius + 3)
    main = radius + 1
    row = 0
    while row_of[row] == column_of[row]:
        row += 1
    wave[main] = row
    ends: list[int | None] = [None, 0 if row == chars else None, None]
    for errors in range(1, limit + 1):
        before = wave
        wave = before.copy()
        breadth = min(errors, radius)
        for index in range(main - breadth, main + breadth + 1):
            row = before[index] + 1  # one code point for another
            other = before[index - 1]  # one more in the text
            if other > row:
                row = other
            other = before[index + 1] + 1  # one less in the text
            if other > row:
                row = other
            if row >= chars:
                row = chars
            else:
                shift = index - main
                while row_of[row] == column_of[row + shift]:
                    row += 1
            wave[index] = row
        for place in range(3):
            if ends[place] is None and wave[main - 1 + place] == chars:
                ends[place] = errors
        if None not in ends:
            break
    windows = tuple(
        (distance, chars + length)
        for distance, length in zip(ends, _LENGTHS, strict=True)
        if distance and 0 < chars + length <= len(beginning)
    )
    return Evaluation(windows, max(1, min(chars, max(wave))) * (2 * radius + 1))


def _partition(chars: int, pieces: int) -> list[tuple[int, int]]:
    """Cuts ``chars`` code points into that many adjoining pieces of nearly one length."""
    return [(number * chars // pieces, (number + 1) * chars // pieces) for number in range(pieces)]


def _places(by_distance: Iterable[Iterable[tuple[int, int]]], places: int) -> list[Window]:
    """The first ``places`` windows that overlap none before them; each distance's windows come in
    the order start, end."""
    chosen: list[Window] = []
    for distance, windows in enumerate(by_distance):
        for start, end in windows:
            if all(end <= other.start or other.end <= start for other in chosen):
                chosen.append(Window(distance, start, end))
                if len(chosen) == places:
                    return chosen
    return chosen
