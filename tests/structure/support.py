"""What the tests of the structural engine share."""

import json
from collections.abc import Iterator
from pathlib import Path

from patchdiff.structure.symbols import Structure, Symbol

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = sorted(path for path in FIXTURES.glob("*/*") if not path.name.endswith(".expected.json"))


def text_of(source: Path) -> str:
    """The text of a fixture, its line ends as they are."""
    return source.read_bytes().decode()


def expected_of(source: Path) -> list[list[str | None]]:
    """The kind, name, parent and text of every symbol of a fixture, written by hand."""
    expected: list[list[str | None]] = json.loads(
        source.with_name(f"{source.stem}.expected.json").read_text(encoding="utf-8")
    )
    return expected


def path_of(symbol: Symbol) -> str:
    """The dotted path of a symbol, its containers by their labels."""
    return ".".join(reversed(list(_elements(symbol))))


def _elements(symbol: Symbol) -> Iterator[str]:
    yield symbol.name
    yield from reversed(symbol.qualifiers)
    while (container := symbol.container) is not None:
        yield container.label
        yield from reversed(container.qualifiers)
        symbol = container


def plain(structure: Structure) -> list[tuple[object, ...]]:
    """Everything that is known of the symbols, comparable."""
    places = {id(symbol): place for place, symbol in enumerate(structure.symbols)}
    return [
        (
            one.name, one.kind, one.parent, one.start, one.end, one.start_line, one.end_line,
            one.has_error, one.qualifiers, one.label,
            None if one.container is None else places[id(one.container)],
        )
        for one in structure.symbols
    ]  # fmt: skip
