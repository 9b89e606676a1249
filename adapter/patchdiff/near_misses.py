"""What resembles an absent match: the stored query and the answer's ``near_misses``.

Offsets and lengths are code points; sizes are bytes of compact ASCII-escaped JSON. Contract: "Exact
candidates, consumed matches and near misses".
"""

from __future__ import annotations

from patchdiff.approximate_search import Window, search
from patchdiff.evidence import JsonObject, json_size
from patchdiff.text import canonical

QUERY_CODE_POINTS = 64
SCANNED_CODE_POINTS = 65_536
CELL_LIMIT = 1_000_000
CANDIDATES = 3
CONTEXT_CODE_POINTS = 16
NEAR_MISSES_BYTES = 8_192

NO_CANDIDATE_HINT = (
    "No similar text of nearly the same length is listed. Search the target for a short exact part "
    "of the match with patchdiff_find_occurrences."
)


def near_miss_query(raw_match: str) -> JsonObject:
    """The query to store with a match_absent rejection: ``{query, omission_reason}``.

    ``raw_match`` is the match as submitted, valid text. Up to 64 code points, counted before its
    line ends are made canonical, its canonical form is the query and ``omission_reason`` is None; a
    longer one gives None and ``match_too_large``. With its wrapper ``{"near_miss_query": …}`` the
    result cannot exceed 1,024 bytes.
    """
    if len(raw_match) > QUERY_CODE_POINTS:
        return {"query": None, "omission_reason": "match_too_large"}
    return {"query": canonical(raw_match), "omission_reason": None}


def scan(text: str, query: str, *, offset: int, total_chars: int, scan_source: str) -> JsonObject:
    """The answer's ``near_misses``: up to three places of ``text`` that resemble ``query``.

    ``text`` is what may be searched, the failing buffer or the stored context's text; at most its
    first 65,536 code points are. ``offset`` is where it begins in the failing buffer and
    ``total_chars`` that buffer's length. ``scan_source`` is ``failing_buffer`` or
    ``stored_failure_context``. ``query`` is canonical and must not be empty.

    Every offset of the result counts from the beginning of the failing buffer, ends exclusive:

    - ``candidates``: ``{distance, start, end, text, before, after}`` each, best first, with up to
      16 code points of the searched text on each side;
    - ``omission_reason``: None, or ``work_budget_exhausted`` when not one window start could be
      evaluated within the cell limit;
    - ``scan_source``, ``scanned_start``, ``scanned_end``: the range of window starts searched, to
      the end of the searched text unless the cell limit came first;
    - ``comparison_cells``: the work, at most 1,000,000;
    - ``scope_truncated``: that range is not the whole failing buffer;
    - ``candidates_truncated``: a further place qualified but is not listed;
    - ``truncated``: either of the two;
    - ``hint``: only when the list was computed and is empty.

    With its wrapper ``{"near_misses": …}`` the result is at most 8,192 bytes: candidates are left
    out from the end until it is.
    """
    searched = text[:SCANNED_CODE_POINTS]
    result = search(searched, query, CANDIDATES + 1, CELL_LIMIT)
    candidates = [_candidate(searched, offset, window) for window in result.windows[:CANDIDATES]]
    scope_truncated = offset > 0 or offset + result.scanned_end < total_chars
    exhausted = result.evaluations == 0 and result.scanned_end < len(searched)
    while True:
        candidates_truncated = len(candidates) < len(result.windows)
        answer: JsonObject = {
            "candidates": candidates,
            "omission_reason": "work_budget_exhausted" if exhausted else None,
            "scan_source": scan_source,
            "scanned_start": offset,
            "scanned_end": offset + result.scanned_end,
            "comparison_cells": result.comparison_cells,
            "scope_truncated": scope_truncated,
            "candidates_truncated": candidates_truncated,
            "truncated": scope_truncated or candidates_truncated,
        }
        if not candidates and not exhausted:
            answer["hint"] = NO_CANDIDATE_HINT
        if not candidates or json_size({"near_misses": answer}) <= NEAR_MISSES_BYTES:
            return answer
        candidates.pop()


def omitted(reason: str) -> JsonObject:
    """The ``near_misses`` of an answer for which nothing was searched, with the reason.

    The keys are those of ``scan``: no candidates, no source and no range (None), no work, and
    nothing that was cut short.
    """
    return {
        "candidates": [],
        "omission_reason": reason,
        "scan_source": None,
        "scanned_start": None,
        "scanned_end": None,
        "comparison_cells": 0,
        "scope_truncated": False,
        "candidates_truncated": False,
        "truncated": False,
    }


def _candidate(searched: str, offset: int, window: Window) -> JsonObject:
    distance, start, end = window
    return {
        "distance": distance,
        "start": offset + start,
        "end": offset + end,
        "text": searched[start:end],
        "before": searched[max(0, start - CONTEXT_CODE_POINTS) : start],
        "after": searched[end : end + CONTEXT_CODE_POINTS],
    }
