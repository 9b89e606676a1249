"""Exact occurrences of a text, overlapping ones counted, in code points."""

from __future__ import annotations


def occurrences(buffer: str, needle: str) -> list[int]:
    """The starts of every exact occurrence of ``needle`` in ``buffer``, ascending, overlaps
    included.

    Offsets are code points. ``needle`` must not be empty. Serves patchdiff_find_occurrences and the
    match rules of the transaction formats (contract, sections 2 and 3).
    """
    starts = []
    found = buffer.find(needle)
    while found >= 0:
        starts.append(found)
        found = buffer.find(needle, found + 1)
    return starts


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
