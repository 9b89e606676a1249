"""Which symbols a name, a query or a kind means."""

from __future__ import annotations

from collections.abc import Iterator

from patchdiff.structure.assembly import document_symbol
from patchdiff.structure.symbols import Structure, Symbol

DOCUMENT = "document"
"""The kind of `<document>`, the whole text. To find it a structure without symbols is enough."""


def candidates(
    structure: Structure, text: str, query: str | None, kind: str | None
) -> list[Symbol]:
    """The symbols whose name contains ``query``, whatever the case, and that have ``kind``.

    None leaves a filter out. `<document>` is among them only when the kind asks for it or the text
    has no other symbol.
    """
    symbols = list(structure.symbols)
    if kind == DOCUMENT or not symbols:
        symbols += _document(text)
    folded = None if query is None else query.casefold()
    return [
        symbol
        for symbol in symbols
        if (kind is None or symbol.kind == kind)
        and (folded is None or folded in symbol.name.casefold())
    ]


def select(structure: Structure, text: str, symbol_name: str, kind: str | None) -> list[Symbol]:
    """The symbols that ``symbol_name`` means and that have ``kind``, unless it is None.

    A name means the symbols of that name, those with a path that ends in it after a dot, and, with
    a dot in front, the one with exactly that path. Every match is given, none is preferred.
    `<document>` is found by its name in every text that is not empty.
    """
    return [
        symbol
        for symbol in [*structure.symbols, *_document(text)]
        if (kind is None or symbol.kind == kind) and _is_meant(symbol, symbol_name)
    ]


def _document(text: str) -> list[Symbol]:
    return [document_symbol(text)] if text else []


def _is_meant(symbol: Symbol, symbol_name: str) -> bool:
    # names may contain dots: the string is never split, only its end compared
    rest = symbol_name
    path = _path_from_its_end(symbol)
    for element in path:
        if rest == element:
            return True
        if not rest.endswith(f".{element}"):
            return False
        rest = rest[: -len(element) - 1]
        if not rest:
            return next(path, None) is None
    return False


def _path_from_its_end(symbol: Symbol) -> Iterator[str]:
    yield symbol.name
    yield from reversed(symbol.qualifiers)
    container = symbol.container
    while container is not None:
        yield container.label
        yield from reversed(container.qualifiers)
        container = container.container
