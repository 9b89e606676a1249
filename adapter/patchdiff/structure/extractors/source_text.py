"""What extractors share in reading names and offsets of a source text."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

from patchdiff.structure.symbols import LONGEST_NAME

_BEGINS_CODE_POINT = bytes(not 0x80 <= byte < 0xC0 for byte in range(256))


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


def code_points(source: bytes) -> Sequence[int]:
    """By bytes of the UTF-8 ``source``, its end included: the code points in front of each."""
    if source.isascii():
        return range(len(source) + 1)
    return array("I", accumulate(source.translate(_BEGINS_CODE_POINT), initial=0))
