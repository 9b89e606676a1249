"""What holds of the symbols of every text in every language."""

import re

from patchdiff.structure.symbols import (
    KINDS,
    LONGEST_NAME,
    METHOD_CONTAINERS,
    NOT_CONTAINERS,
    Structure,
    Symbol,
)

BLANKS = " \t\n\f\v"


def check(text: str, structure: Structure) -> None:
    """Asserts every law of spans, names, lines, order and nesting."""
    symbols = structure.symbols
    for symbol in symbols:
        _check_alone(text, symbol)
    order = [(symbol.start, -symbol.end) for symbol in symbols]
    assert order == sorted(order)
    _check_nesting(symbols)


def _check_alone(text: str, symbol: Symbol) -> None:
    assert 0 <= symbol.start < symbol.end <= len(text)
    assert text[symbol.start] not in BLANKS
    assert text[symbol.end - 1] not in BLANKS
    assert symbol.start_line == text.count("\n", 0, symbol.start) + 1
    assert symbol.end_line == text.count("\n", 0, symbol.end - 1) + 1
    assert 1 <= len(symbol.name) <= LONGEST_NAME
    assert not re.search(r"[ \t\n\f\v]{2}|[\t\n\f\v]", symbol.name)
    assert symbol.kind in KINDS


def _check_nesting(symbols: tuple[Symbol, ...]) -> None:
    """Spans lie in one another or apart, and a parent is the nearest larger container."""
    around: list[Symbol] = []
    for symbol in symbols:
        while around and around[-1].end <= symbol.start:
            around.pop()
        assert all(symbol.end <= other.end for other in around)
        larger = [
            other
            for other in around
            if other.kind not in NOT_CONTAINERS
            and (other.start, other.end) != (symbol.start, symbol.end)
        ]
        if symbol.container is None:
            assert larger == []
        else:
            nearest = larger[-1]
            container = symbol.container
            assert (container.start, container.end) == (nearest.start, nearest.end)
            assert any(other is container for other in larger)
        label = None if symbol.container is None else symbol.container.label
        assert symbol.parent == (symbol.qualifiers[-1] if symbol.qualifiers else label)
        in_type = symbol.container is not None and symbol.container.kind in METHOD_CONTAINERS
        assert symbol.kind != "function" or not (in_type or symbol.qualifiers)
        around.append(symbol)
