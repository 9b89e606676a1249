"""The limits of a fresh whole replacement (contract, "patchdiff_submit_replacement")."""

from __future__ import annotations

from patchdiff.text import canonical

MAXIMUM_CODE_POINTS = 1_000_000
MAXIMUM_UTF8_BYTES = 1_048_576

JsonObject = dict[str, object]


def replacement_refusal(replacement: str) -> JsonObject | None:
    """The refusal of a replacement that is too large, or None when it may be admitted.

    ``replacement`` is valid text as submitted. Both it and its canonical form are held to 1,000,000
    code points and 1,048,576 UTF-8 bytes, inclusive; the first limit that fails is named.
    """
    text = canonical(replacement)
    code_points, utf8_bytes = len(text), len(text.encode())
    measured = (
        ("raw_code_points", len(replacement), MAXIMUM_CODE_POINTS),
        ("raw_utf8_bytes", len(replacement.encode()), MAXIMUM_UTF8_BYTES),
        ("canonical_code_points", code_points, MAXIMUM_CODE_POINTS),
        ("canonical_utf8_bytes", utf8_bytes, MAXIMUM_UTF8_BYTES),
    )
    exceeded = next((item for item in measured if item[1] > item[2]), None)
    if exceeded is None:
        return None
    name, actual, limit = exceeded
    would_fit = code_points <= MAXIMUM_CODE_POINTS and utf8_bytes <= MAXIMUM_UTF8_BYTES
    advice = (
        "send the text with LF line endings, which fits"
        if would_fit
        else "where only parts of the text change, submit those as edits or operations"
    )
    return {
        "status": "invalid_argument",
        "code": "replacement_too_large",
        "failure_detail": f"The replacement is too large: {name} is {actual}, the limit {limit};"
        f" {advice}.",
        "pdcp_log_id": None,
        "diagnostic": {
            "code": "replacement_too_large",
            "limit_exceeded": name,
            "actual": actual,
            "limit": limit,
            "canonical_code_points": code_points,
            "canonical_utf8_bytes": utf8_bytes,
            "canonical_would_fit": would_fit,
        },
    }
