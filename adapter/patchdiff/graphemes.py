"""Whether a place in a text lies inside a likely grapheme cluster: what a reader sees as one
character.

A deterministic, conservative approximation of UAX #29 (contract, "Accepted responses, current state
and warnings"). docs/graphemes.md has the sets, and what this leaves out on purpose.
"""

from __future__ import annotations

import re
import unicodedata

_ZWJ = "\u200d"

_FIRST_JOINED = "\u0300"
"""The least code point that any rule about the following code point names: all below is quick."""

_JOINED = re.compile(
    "["
    "\u200d"
    "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
    "\U0001f3fb-\U0001f3ff"  # emoji modifiers
    "\U000e0020-\U000e007f"  # tag characters
    "]"
)

_L = "\u1100-\u115f\ua960-\ua97c"
_V = "\u1160-\u11a7\ud7b0-\ud7c6"
_T = "\u11a8-\u11ff\ud7cb-\ud7fb"
_SYLLABLE = "\uac00-\ud7a3"
_LV = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
_HANGUL_PAIR = re.compile(
    f"[{_L}][{_L}{_V}{_SYLLABLE}]|[{_V}{_LV}][{_V}{_T}]|[{_SYLLABLE}{_T}][{_T}]"
)

_REGIONAL_INDICATORS = re.compile("[\U0001f1e6-\U0001f1ff]*")


def splits_cluster(text: str, offset: int) -> bool:
    """Whether the boundary before code point ``offset`` of the canonical ``text`` splits a likely
    grapheme cluster.

    The start and the end of the text, and every place directly after LF, never do. Takes constant
    time, beside regional indicators: there it takes time linear in the run of them that ends at
    ``offset``.
    """
    if not 0 < offset < len(text):
        return False
    preceding, following = text[offset - 1], text[offset]
    if preceding == "\n":
        return False
    if preceding == _ZWJ:
        return True
    if following < _FIRST_JOINED:
        return False
    return (
        unicodedata.category(following).startswith("M")
        or _JOINED.match(following) is not None
        or _HANGUL_PAIR.match(text, offset - 1) is not None
        or _splits_flag(text, offset)
    )


def _splits_flag(text: str, offset: int) -> bool:
    """Whether ``offset`` lies between the halves of a pair: pairs count from their run's start."""
    if not _REGIONAL_INDICATORS.fullmatch(text[offset]):
        return False
    run, size = 0, 16
    while True:
        chunk = text[max(0, offset - run - size) : offset - run]
        found = _REGIONAL_INDICATORS.match(chunk[::-1])
        assert found is not None  # it matches the empty string
        run += found.end()
        if found.end() < size:
            return run % 2 == 1
        size *= 2
