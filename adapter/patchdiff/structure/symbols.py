"""What the structural engine speaks of: what an extractor found, and the symbols made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

KINDS = frozenset(
    (
        "class", "code_block", "config_item", "constant", "database", "document", "element",
        "enum", "extension", "function", "impl", "import", "index", "interface", "macro",
        "method", "module", "object", "policy", "role", "rule", "schema", "section",
        "sequence", "signature", "struct", "table", "table_row", "trait", "trigger", "type",
        "union", "variable", "view",
    )
)  # fmt: skip
"""Every kind that a symbol can have."""

NOT_CONTAINERS = frozenset(("code_block", "config_item", "table", "table_row"))
"""Kinds whose symbols are never the parent of what lies inside them."""

METHOD_CONTAINERS = frozenset(("class", "enum", "impl", "interface", "struct", "trait", "union"))
"""Kinds in which a function is a method."""

LONGEST_NAME = 512
"""Code points of the longest name; what has a longer one is no symbol."""


class StructureLimitError(Exception):
    """A text is past a limit of the engine. Its words say which, without any of the text."""


class Found(NamedTuple):
    """A construct as an extractor sees it.

    ``start`` and ``end`` are code points into the text the extractor was given, end exclusive;
    white space at either end is allowed. ``qualifiers`` are those written before the name, the
    outermost first. ``label`` is what the construct is called as a parent and in paths, where that
    is not the name. ``numbered`` asks for a number behind the second and later ones of the same
    name in the same container. Whether a function is a method is decided by `assembly`.
    """

    kind: str
    name: str
    start: int
    end: int
    qualifiers: tuple[str, ...] = ()
    label: str | None = None
    numbered: bool = False
    has_error: bool = False


class Symbol(NamedTuple):
    """A named scope of a text.

    ``start`` and ``end`` are code points into the text, end exclusive; lines are one-based and
    ``end_line`` is that of the last code point. ``parent`` is the last written qualifier or the
    label of the ``container``, the nearest larger symbol around this one; None at top level.
    ``has_error`` says that the parser met a syntax error inside. A symbol's path is its container's
    path, its qualifiers and its name, with the containers' labels in place of their names.

    A symbol is equal to itself only; equal names and spans do not make two symbols one.
    """

    name: str
    kind: str
    parent: str | None
    start: int
    end: int
    start_line: int
    end_line: int
    has_error: bool
    qualifiers: tuple[str, ...]
    label: str
    container: Symbol | None

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:  # containers may be thousands
        return f"<{self.kind} {self.name!r} {self.start}-{self.end}>"


@dataclass(frozen=True, slots=True)
class Structure:
    """The symbols of a text in the order of their starts, a larger one before what it contains."""

    language: str
    has_errors: bool
    symbols: tuple[Symbol, ...]
