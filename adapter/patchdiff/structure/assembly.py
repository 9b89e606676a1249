"""Makes symbols of what an extractor found: spans, names, parents, methods, numbers and order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from patchdiff.structure.symbols import (
    LONGEST_NAME,
    METHOD_CONTAINERS,
    NOT_CONTAINERS,
    Found,
    Structure,
    Symbol,
)

BYTE_ORDER_MARK = "\ufeff"

_SPACE = " \t\n\f\v\r"
_SPACES = re.compile(f"[{_SPACE}]+")
_LINE_FEED = re.compile("\n")


class _Placed(NamedTuple):
    start: int
    end: int
    found: Found


def assemble(language: str, text: str, found: Iterable[Found], has_errors: bool) -> Structure:
    """The structure of ``text`` from what was found in it.

    The offsets of ``found`` leave out a U+FEFF at the start of ``text``; those of the result count
    it. ``found`` comes in the order of its patterns, which decides among equal spans.
    """
    shift = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    placed = _placed(text, found, shift)
    line_starts = [0, *(match.end() for match in _LINE_FEED.finditer(text))]
    symbols: list[Symbol] = []
    containers: list[Symbol] = []
    numbers: dict[tuple[int, str], int] = {}
    for start, end, one in placed:
        while containers and containers[-1].end < end:
            containers.pop()
        container = _strictly_around(containers, start, end)
        qualifiers = tuple(_collapsed(qualifier) for qualifier in one.qualifiers)
        name = _collapsed(one.name)
        if one.numbered:
            key = (0 if container is None else id(container), name)
            number = numbers.get(key, 0)
            numbers[key] = number + 1
            name = f"{name}[{number}]" if number else name
        if not 1 <= len(name) <= LONGEST_NAME:
            continue
        symbol = Symbol(
            name,
            _kind(one.kind, container, qualifiers),
            qualifiers[-1] if qualifiers else None if container is None else container.label,
            start,
            end,
            bisect_right(line_starts, start),
            bisect_right(line_starts, end - 1),
            one.has_error,
            qualifiers,
            name if one.label is None else _collapsed(one.label),
            container,
        )
        symbols.append(symbol)
        if symbol.kind not in NOT_CONTAINERS and not _same_span(containers, start, end):
            containers.append(symbol)
    return Structure(language, has_errors, tuple(symbols))


def document_symbol(text: str) -> Symbol:
    """The symbol that is the whole text, untrimmed. It needs no parser."""
    last_line = text.count("\n") + (0 if text.endswith("\n") else 1)
    name = "<document>"
    return Symbol(name, "document", None, 0, len(text), 1, max(1, last_line), False, (), name, None)


def _placed(text: str, found: Iterable[Found], shift: int) -> list[_Placed]:
    """What is left without white space around it, in the order of the symbols."""
    placed = []
    trimmed_ends: dict[int, int] = {}  # many constructs may end at the same long white space
    for one in found:
        start, end = one.start + shift, trimmed_ends.get(one.end, -1)
        if end < 0:
            end = one.end + shift
            while end and text[end - 1] in _SPACE:
                end -= 1
            trimmed_ends[one.end] = end
        while start < end and text[start] in _SPACE:
            start += 1
        if start < end:
            placed.append(_Placed(start, end, one))
    placed.sort(key=lambda place: (place.start, -place.end))
    return placed


def _collapsed(name: str) -> str:
    return _SPACES.sub(" ", name)


def _kind(kind: str, container: Symbol | None, qualifiers: tuple[str, ...]) -> str:
    in_type = container is not None and container.kind in METHOD_CONTAINERS
    return "method" if kind == "function" and (in_type or qualifiers) else kind


def _same_span(containers: list[Symbol], start: int, end: int) -> bool:
    return bool(containers) and (containers[-1].start, containers[-1].end) == (start, end)


def _strictly_around(containers: list[Symbol], start: int, end: int) -> Symbol | None:
    """The innermost container that is larger. No two of them have the same span."""
    if not containers:
        return None
    if not _same_span(containers, start, end):
        return containers[-1]
    return containers[-2] if len(containers) > 1 else None
