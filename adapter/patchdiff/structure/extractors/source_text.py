"""What extractors share in reading names and offsets of a source text."""

from __future__ import annotations

from collections.abc import Iterable

from patchdiff.structure.symbols import LONGEST_NAME

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


def unquoted(name: str, quotes: str = "\"'") -> str:
    """``name`` without the one pair of quotes around it, if there is one. Nothing is unescaped."""
    if len(name) > 1 and name[0] == name[-1] and name[0] in quotes:
        return name[1:-1]
    return name


def element_name(array: str | None, index: int) -> str | None:
    """The name of an array's element; None when it, or the array's name, is too long for a symbol.

    Names of nested arrays grow with their depth, so they are given up early.
    """
    if array is None:
        return None
    name = f"{array}[{index}]"
    return name if len(name) <= LONGEST_NAME else None


def code_points(source: bytes, places: Iterable[int]) -> dict[int, int]:
    """The code points before each of ``places``, which are bytes of the UTF-8 ``source``."""
    offsets: dict[int, int] = {}
    byte = code_point = 0
    for place in sorted(set(places)):
        code_point += len(source[byte:place].translate(None, _CONTINUATION_BYTES))
        byte = place
        offsets[place] = code_point
    return offsets


def in_code_points(source: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """``spans`` of bytes of the UTF-8 ``source`` as spans of code points."""
    if source.isascii():
        return spans
    offsets = code_points(source, (place for span in spans for place in span))
    return [(offsets[start], offsets[end]) for start, end in spans]
