"""Exact occurrences of a text, overlapping ones counted, in code points."""

from __future__ import annotations

SHORT_NEEDLE = 16
"""Code points up to which looking again at a whole needle costs less than knowing its period."""


def occurrences(buffer: str, needle: str) -> list[int]:
    """The starts of every exact occurrence of ``needle`` in ``buffer``, ascending, overlaps
    included.

    Offsets are code points. ``needle`` must not be empty. Serves patchdiff_find_occurrences and the
    match rules of the transaction formats (contract, sections 2 and 3).
    """
    starts: list[int] = []
    size = len(needle)
    found = buffer.find(needle)
    while found >= 0:
        starts.append(found)
        following = buffer.find(needle, found + 1)
        if size > SHORT_NEEDLE and found < following < found + size:
            return _overlapping(buffer, needle, starts)
        found = following
    return starts


def _overlapping(buffer: str, needle: str, starts: list[int]) -> list[int]:
    """Continues ``starts`` for a long needle that overlaps itself, in time linear in both texts.

    Two occurrences are at least the needle's smallest period apart. One that is followed by a
    further period of text is followed by an occurrence a period later; where that is not so, the
    next is more than ``size - period`` away, since two smaller periods would have a common one.
    """
    size = len(needle)
    period = _smallest_period(needle)
    further = needle[size - period :]
    found = starts[-1]
    while found >= 0:
        while buffer.startswith(further, found + size):
            found += period
            starts.append(found)
        found = buffer.find(needle, found + max(period, size - period) + 1)
        if found >= 0:
            starts.append(found)
    return starts


def _smallest_period(needle: str) -> int:
    """The smallest distance at which the needle agrees with itself (Knuth, Morris and Pratt)."""
    borders = [0] * len(needle)
    border = 0
    for position in range(1, len(needle)):
        while border and needle[position] != needle[border]:
            border = borders[border - 1]
        if needle[position] == needle[border]:
            border += 1
        borders[position] = border
    return len(needle) - border


def occurrence_page(
    buffer: str, needle: str, context_chars: int, start_occurrence: int, max_results: int
) -> dict[str, object]:
    """One page of occurrences with ``context_chars`` code points of context on each side.

    ``start_occurrence`` is one-based; a page past the last occurrence is empty and keeps the true
    count. Returns the fields of patchdiff_find_occurrences that follow ``current_hash`` (contract,
    section 2).
    """
    starts = occurrences(buffer, needle)
    first = start_occurrence - 1
    page = starts[first : first + max_results]
    truncated = first + len(page) < len(starts) and bool(page)
    return {
        "occurrence_count": len(starts),
        "returned_count": len(page),
        "start_occurrence": start_occurrence,
        "occurrences": [
            {
                "occurrence_index": index,
                "start": start,
                "end": start + len(needle),
                "before": buffer[max(0, start - context_chars) : start],
                "after": buffer[start + len(needle) : start + len(needle) + context_chars],
            }
            for index, start in enumerate(page, start=start_occurrence)
        ],
        "truncated": truncated,
        "next_occurrence_index": start_occurrence + len(page) if truncated else None,
    }
