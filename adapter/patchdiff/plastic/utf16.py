"""Lengths and excerpts in UTF-16 code units, in which the tools' character bounds are counted."""

from typing import Final

Excerpt = dict[str, object]

_UNIT_BYTES: Final = 2


def units(text: str) -> int:
    """How many UTF-16 code units a text has; a character beyond U+FFFF has two."""
    return len(text) + sum(character > "\uffff" for character in text)


def head(text: str, limit: int) -> str:
    """The longest beginning of a text with at most `limit` units; no surrogate pair is split."""
    kept = text[:limit]
    encoded = kept.encode("utf-16-le", "surrogatepass")
    if len(encoded) <= limit * _UNIT_BYTES:
        return kept
    # a pair cut in two at the end is left out whole
    return encoded[: limit * _UNIT_BYTES].decode("utf-16-le", "ignore")


def excerpt(text: str, limit: int) -> Excerpt:
    """The beginning of a text with a marker where something was left out, and its counts.

    The text of the excerpt, marker included, has at most `limit` units, which must be at least 64.
    """
    source = units(text)
    if source <= limit:
        return _excerpt(text, source, source, "")
    longest = _marker(source)
    kept = head(text, limit - units(longest))
    kept_units = units(kept)
    return _excerpt(kept, source, kept_units, _marker(source - kept_units))


def _excerpt(kept: str, source: int, kept_units: int, marker: str) -> Excerpt:
    return {
        "text": kept + marker,
        "sourceUtf16": source,
        "keptUtf16": kept_units,
        "markerUtf16": units(marker),
        "omittedUtf16": source - kept_units,
        "truncated": kept_units < source,
    }


def _marker(omitted: int) -> str:
    return f"\n[{omitted} characters omitted]\n"
