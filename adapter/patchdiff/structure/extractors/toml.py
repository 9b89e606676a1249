"""TOML: tables and inline tables are objects, everything else with a key is an item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

from patchdiff.structure.extractors.source_text import code_points, element_name, unquoted
from patchdiff.structure.symbols import Found

_KEYS = frozenset(("bare_key", "dotted_key", "quoted_key"))
_TABLES = frozenset(("table", "table_array_element"))
_COLLECTIONS = {"inline_table": "object", "array": "config_item"}
_NO_VALUES = frozenset(("comment", "ERROR"))
_KEY_PART = re.compile(r""" "(?:[^"\\]|\\.)*+" | '[^']*+' | [^\s.]++ """, re.VERBOSE | re.DOTALL)


@cache
def _language() -> Language:
    return Language(tree_sitter_toml.language())


def find(text: str) -> tuple[list[Found], bool]:
    """Every table, pair, and inline table or array in an array; whether there is a syntax error.

    What lies in an erroneous part of the text is left out.
    """
    source = text.encode()
    root = Parser(_language()).parse(source).root_node
    walk = _Walk(source)
    for node in root.named_children:
        if node.type in _TABLES:
            walk.table(node)
        elif node.type == "pair":
            walk.pair(node)
    return walk.found, root.has_error


@dataclass(slots=True)
class _Table:
    """A table that headers name. ``elements`` counts those of an array of tables so far."""

    label: str
    elements: int = 0
    tables: dict[str, _Table] = field(default_factory=dict)

    def under(self, name: str) -> _Table:
        return self.tables.setdefault(name, _Table(name))


class _Walk:
    def __init__(self, source: bytes) -> None:
        self.found: list[Found] = []
        self._source = source
        self._offsets = code_points(source)
        self._tables = _Table("")

    def table(self, node: Node) -> None:
        """Finds a table with a header, through its last pair, and what is in it."""
        key = None
        end = node.start_byte
        for child in node.children:
            if child.type == "pair":
                end = max(end, self.pair(child))
            elif child.type in ("]", "]]"):
                end = child.end_byte
            elif child.type in _KEYS and not child.is_missing:
                key = child
        if key is None:
            return
        *outer, last = self._key_parts(key)
        table = self._tables
        qualifiers = []
        for part in outer:
            table = table.under(part)
            qualifiers.append(table.label)
        table = table.under(last)
        if node.type == "table_array_element":
            table.label = f"{last}[{table.elements}]"
            table.elements += 1
            table.tables = {}
        self._add("object", table.label, node, end, tuple(qualifiers))

    def pair(self, node: Node) -> int:
        """Finds a pair and all that is in its value. Gives the byte where the value ends."""
        value_end = node.start_byte
        pairs = [node]
        while pairs:
            one = pairs.pop()
            parts = [child for child in one.named_children if child.type not in _NO_VALUES]
            if len(parts) != 2 or parts[0].is_missing:
                continue
            key, value = parts
            *outer, name = self._key_parts(key)
            qualifiers = tuple(outer)
            end = value.end_byte
            kind = value.type
            self._add(
                "object" if kind == "inline_table" else "config_item", name, one, end, qualifiers
            )
            if kind in _COLLECTIONS:
                pairs += self._pairs_in(value, name, qualifiers)
            value_end = max(value_end, end)
        return value_end

    def _pairs_in(self, value: Node, name: str, qualifiers: tuple[str, ...]) -> Iterator[Node]:
        """The pairs in a value that has a name. Finds the elements of its arrays."""
        values: list[tuple[Node, str | None]] = [(value, name)]
        while values:
            node, node_name = values.pop()
            children = [child for child in node.named_children if child.type not in _NO_VALUES]
            if node.type == "inline_table":
                yield from (child for child in children if child.type == "pair")
                continue
            for index, element in enumerate(children):
                kind = _COLLECTIONS.get(element.type)
                if kind is not None:
                    element_key = element_name(node_name, index)
                    if element_key is not None:
                        self._add(kind, element_key, element, element.end_byte, qualifiers)
                    values.append((element, element_key))

    def _add(self, kind: str, name: str, node: Node, end: int, qualifiers: tuple[str, ...]) -> None:
        start = self._offsets[node.start_byte]
        self.found.append(
            Found(kind, name, start, self._offsets[end], qualifiers, has_error=node.has_error)
        )

    def _key_parts(self, key: Node) -> list[str]:
        written = self._source[key.start_byte : key.end_byte].decode()
        if key.type == "bare_key":
            return [written]
        return [unquoted(part) for part in _KEY_PART.findall(written)] or [written]
