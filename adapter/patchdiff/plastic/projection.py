"""Envelopes of `plastic_diff` within their bound, validated before they leave.

Over the bound an excerpt gets shorter (file and revisions) or whole outcomes are left out from the
end (workspace); names, ids and selectors are never clipped.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from patchdiff.plastic.comparison import ComparisonEvidence
from patchdiff.plastic.envelopes import validate
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import Limits

SHORTEST_EXCERPT: Final = 64
"""Below this an answer that is still too large is refused instead."""


def compact(value: object) -> str:
    """JSON as its size is counted: without blanks, other scripts not escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def size(value: object) -> int:
    """The UTF-8 bytes of the compact JSON."""
    return len(compact(value).encode("utf-8"))


def envelope(
    action: str,
    data: dict[str, Any] | None,
    failure: Failure | None,
    *,
    read: str,
    projection: str,
) -> dict[str, Any]:
    """The closed envelope of either tool, version 1."""
    return {
        "version": 1,
        "action": action,
        "ok": failure is None,
        "completeness": {"read": read, "projection": projection},
        "data": data,
        "error": None if failure is None else failure.as_json(),
    }


def failed(action: str, failure: Failure) -> dict[str, Any]:
    """The envelope of a call that gained nothing."""
    projection = "omitted" if failure.code == "projection_limit" else "complete"
    return validate(envelope(action, None, failure, read="none", projection=projection))


def single_comparison(
    evidence: ComparisonEvidence, failure: Failure | None, most_characters: int, limits: Limits
) -> dict[str, Any]:
    """The envelope of one comparison; a failure that came after it is told beside it."""

    def of(characters: int) -> dict[str, Any]:
        data = evidence.as_json(characters)
        cut = data["excerpt"] is not None and data["excerpt"]["truncated"]  # type: ignore[index]
        return envelope(
            "diff",
            data,
            failure,
            read="complete",
            projection="truncated" if cut else "complete",
        )

    found = shrunk(of, most_characters, limits.diff_envelope_bytes)
    if found is None:
        return failed("diff", Failure("projection_limit", "project"))
    return validate(found)


def shrunk(
    of: Callable[[int], dict[str, Any]], most_characters: int, most_bytes: int
) -> dict[str, Any] | None:
    """The envelope with the longest excerpt that fits; None when not even the shortest does."""
    found = of(most_characters)
    if size(found) <= most_bytes:
        return found
    fits, too_long = SHORTEST_EXCERPT, most_characters
    if size(of(fits)) > most_bytes:
        return None
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size(of(middle)) <= most_bytes:
            fits = middle
        else:
            too_long = middle
    return of(fits)


def workspace(
    data: dict[str, Any],
    outcomes: list[dict[str, Any]],
    failure: Failure | None,
    limits: Limits,
) -> dict[str, Any]:
    """The envelope of a workspace's outcomes, with as many of them as fit."""
    counts = data["counts"]
    lacking = ("limited", "skipped", "unattempted", "failed")
    complete = not any(counts[name] for name in lacking) and not data["unmatched"]

    def of(returned: int) -> dict[str, Any]:
        shown = outcomes[:returned]
        omitted = len(outcomes) - returned
        projection = "omitted" if omitted else "complete"
        if not omitted and any(_is_cut(outcome) for outcome in shown):
            projection = "truncated"
        filled = {
            "mode": "workspace",
            **data,
            "counts": {**counts, "returned": returned, "omitted": omitted},
            "outcomes": shown,
        }
        return envelope(
            "diff",
            filled,
            failure,
            read="complete" if complete else "incomplete",
            projection=projection,
        )

    for returned in range(len(outcomes), -1, -1):
        found = of(returned)
        if size(found) <= limits.diff_envelope_bytes:
            return validate(found)
    return failed("diff", Failure("projection_limit", "project"))


def _is_cut(outcome: dict[str, Any]) -> bool:
    comparison = outcome["comparison"]
    return bool(comparison and comparison["excerpt"] and comparison["excerpt"]["truncated"])
