"""Bounded evidence of a rejection: text contexts and exact candidates, within the contract's byte
budgets.

Sizes are bytes of compact ASCII-escaped JSON; offsets and lengths are code points. Contract:
"Bounded rejection context" and "Exact candidates, consumed matches and near misses".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

CONTEXT_CODE_POINTS = 256
CONTEXT_BYTES = 4_096
CONTEXTS_BYTES = 8_192
VISIBLE_CODE_POINTS = 64
CANDIDATES = 5
CANDIDATES_BYTES = 8_192
CANDIDATE_CONTEXT_CODE_POINTS = 20
MATCH_PREVIEW_CODE_POINTS = 64

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Observed:
    """The target's identity at transaction start."""

    version: int
    current_hash: str


def json_size(value: object) -> int:
    """The bytes of ``value`` as compact ASCII-escaped JSON: what every budget counts."""
    return len(json.dumps(value, ensure_ascii=True, separators=(",", ":")))


def prefix_context(
    text: str, total_chars: int, observed: Observed, budget: int = CONTEXT_BYTES
) -> JsonObject:
    """The beginning of the canonical target: at most 256 code points that fit ``budget`` bytes.

    ``text`` is the target's text or its first 256 code points; ``total_chars`` the length of the
    whole.
    """
    return _fitted(text, "canonical_target", 0, total_chars, observed, budget)


def failure_context(
    buffer: str,
    prior_changes: int,
    location: int | None,
    observed: Observed,
    *,
    in_scope: bool = False,
) -> JsonObject:
    """The text around a failure of application: a prefix of ``buffer``, or a window around
    ``location``. ``in_scope`` tells that the buffer is one scope of the target.

    The window is taken when fewer than 64 code points from the location on would be visible in the
    prefix.
    """
    stage = _stage(prior_changes, in_scope)
    context = _fitted(buffer, stage, prior_changes, len(buffer), observed, CONTEXT_BYTES)
    end = context["end"]
    assert isinstance(end, int)
    if location is None or end == len(buffer) or end - location >= VISIBLE_CODE_POINTS:
        return context
    return _fitted(buffer, stage, prior_changes, len(buffer), observed, CONTEXT_BYTES, location)


def current_context(
    text: str, total_chars: int, observed: Observed, failure: object = None
) -> JsonObject:
    """The beginning of the committed target, sized so that it and ``failure`` stay within their
    common budget."""
    used = json_size({"failure_context": failure, "current_context": {}}) - 2
    return prefix_context(text, total_chars, observed, min(CONTEXT_BYTES, CONTEXTS_BYTES - used))


def unavailable_context(reason: str) -> JsonObject:
    """A context that cannot be given, with the reason; every other field is null."""
    fields = _context("", 0, "", 0, 0, Observed(0, ""), None)
    return {**dict.fromkeys(fields), "available": False, "unavailable_reason": reason}


def exact_candidates(
    buffer: str,
    starts: Sequence[int],
    match: str,
    prior_changes: int,
    observed: Observed,
    *,
    in_scope: bool = False,
) -> JsonObject:
    """The first exact occurrences of ``match``, at most five, whole ones within 8,192 bytes,
    wrapper included."""
    candidates: list[JsonObject] = []
    while True:
        wrapped = _candidates(candidates, len(starts), prior_changes, observed, in_scope)
        if json_size({"exact_candidates": wrapped}) > CANDIDATES_BYTES and candidates:
            return _candidates(candidates[:-1], len(starts), prior_changes, observed, in_scope)
        if len(candidates) == min(CANDIDATES, len(starts)):
            return wrapped
        start = starts[len(candidates)]
        end = start + len(match)
        candidates.append(
            {
                "occurrence_index": len(candidates) + 1,
                "start": start,
                "end": end,
                "before": buffer[max(0, start - CANDIDATE_CONTEXT_CODE_POINTS) : start],
                "match_preview": match[:MATCH_PREVIEW_CODE_POINTS],
                "match_truncated": len(match) > MATCH_PREVIEW_CODE_POINTS,
                "after": buffer[end : end + CANDIDATE_CONTEXT_CODE_POINTS],
            }
        )


def _candidates(
    candidates: Sequence[JsonObject],
    count: int,
    prior_changes: int,
    observed: Observed,
    in_scope: bool,
) -> JsonObject:
    truncated = len(candidates) < count
    return {
        "kind": "exact_occurrences",
        "occurrence_count": count,
        "returned_count": len(candidates),
        "candidates": list(candidates),
        "truncated": truncated,
        "next_occurrence_index": len(candidates) + 1 if truncated else None,
        "buffer_stage": _stage(prior_changes, in_scope),
        "prior_changes": prior_changes,
        "observed_target_version": observed.version,
        "observed_target_hash": observed.current_hash,
    }


def _stage(prior_changes: int, in_scope: bool) -> str:
    return "intermediate_buffer" if prior_changes or in_scope else "canonical_target"


def _fitted(
    buffer: str,
    stage: str,
    prior_changes: int,
    total_chars: int,
    observed: Observed,
    budget: int,
    location: int | None = None,
) -> JsonObject:
    """The context with the most code points, up to 256, that fits ``budget``."""

    def context(size: int) -> JsonObject:
        start = 0
        if location is not None:
            start = max(0, min(location - size // 2, len(buffer) - size))
        text = buffer[start : start + size]
        return _context(text, start, stage, prior_changes, total_chars, observed, location)

    # sizes only grow with the text, so the largest that fits is found by halving
    low, high = 0, min(CONTEXT_CODE_POINTS, len(buffer))
    whole = context(high)
    if json_size(whole) <= budget:
        return whole
    while low < high - 1:
        middle = (low + high) // 2
        if json_size(context(middle)) <= budget:
            low = middle
        else:
            high = middle
    return context(low)


def _context(
    text: str,
    start: int,
    stage: str,
    prior_changes: int,
    total_chars: int,
    observed: Observed,
    location: int | None,
) -> JsonObject:
    return {
        "available": True,
        "unavailable_reason": None,
        "selection": "prefix" if location is None else "failure_window",
        "buffer_stage": stage,
        "prior_changes": prior_changes,
        "start": start,
        "end": start + len(text),
        "total_chars": total_chars,
        "text": text,
        "truncated": len(text) < total_chars,
        "observed_target_version": observed.version,
        "observed_target_hash": observed.current_hash,
    }
