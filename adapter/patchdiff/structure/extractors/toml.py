"""TOML: tables and inline tables are objects, everything else with a key is an item."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

from patchdiff.structure.extractors.source_text import element_name, in_code_points, unquoted
from patchdiff.structure.symbols import Found

_KEYS = frozenset(("bare_key", "dotted_key", "quoted_key"))
_TABLES = frozenset(("table", "table_array_element"))
_COLLECTIONS = {"inline_table": "object", "array": "config_item"}
_NO_VALUES = frozenset(("comment", "ERROR"))
_KEY_PART = re.compile(r""" "(?:[^"\\]|\\.)*+" | '[^']*+' | [^\s.]++ """, re.VERBOSE | re.DOTALL)


@cache
def _language() -> Language:
    return Language(tree_sitter_toml.language())


@dataclass(slots=True)
class _Table:
    """A table that headers name. ``elements`` counts those of an array of tables so far."""

    label: str
    elements: int = 0
    tables: dict[str, _Table] = field(default_factory=dict)

    def under(self, name: str) -> _Table:
        return self.tables.setdefault(name, _Table(name))


@dataclass(slots=True)
class _Named:
    kind: str
    name: str
    qualifiers: tuple[str, ...]
    start: int
    end: int
    has_error: bool


def find(text: str) -> tuple[list[Found], bool]:
    """Every table, pair, and inline table or array in an array; whether there is a syntax error.

    What lies in an erroneous part of the text is left out.
    """
    source = text.encode()
    root = Parser(_language()).parse(source).root_node
    named: list[_Named] = []
    tables = _Table("")
    for node in root.named_children:
        if node.type in _TABLES:
            _table(source, node, tables, named)
        elif node.type == "pair":
            _pairs(source, node, named)
    spans = in_code_points(source, [(one.start, one.end) for one in named])
    found = [
        Found(one.kind, one.name, start, end, one.qualifiers, has_error=one.has_error)
        for one, (start, end) in zip(named, spans, strict=True)
    ]
    return found, root.has_error


def _table(source: bytes, node: Node, tables: _Table, named: list[_Named]) -> None:
    key = None
    end = node.start_byte
    for child in node.children:
        if child.type in _KEYS and not child.is_missing:
            key = child
        elif child.type in ("]", "]]"):
            end = child.end_byte
        elif child.type == "pair":
            end = _pairs(source, child, named)
    if key is None:
        return
    *outer, last = _key_parts(source, key)
    table = tables
    qualifiers = []
    for part in outer:
        table = table.under(part)
        qualifiers.append(table.label)
    table = table.under(last)
    if node.type == "table_array_element":
        table.label = f"{last}[{table.elements}]"
        table.elements += 1
        table.tables = {}
    named.append(
        _Named("object", table.label, tuple(qualifiers), node.start_byte, end, node.has_error)
    )


def _pairs(source: bytes, pair: Node, named: list[_Named]) -> int:
    """Names a pair and all that is inside its value. Gives where the value ends."""
    end = pair.start_byte
    pairs = [pair]
    while pairs:
        node = pairs.pop()
        parts = [child for child in node.named_children if child.type not in _NO_VALUES]
        if len(parts) != 2 or parts[0].is_missing:
            continue
        key, value = parts
        *qualifiers, name = _key_parts(source, key)
        end = max(end, value.end_byte)
        kind = "object" if value.type == "inline_table" else "config_item"
        named.append(
            _Named(kind, name, tuple(qualifiers), node.start_byte, value.end_byte, node.has_error)
        )
        _value(value, name, tuple(qualifiers), named, pairs)
    return end


def _value(
    value: Node, name: str, qualifiers: tuple[str, ...], named: list[_Named], pairs: list[Node]
) -> None:
    """Names the elements of a value and adds the pairs in it."""
    values: list[tuple[Node, str | None]] = [(value, name)]
    while values:
        node, node_name = values.pop()
        if node.type == "inline_table":
            pairs += (child for child in node.named_children if child.type == "pair")
        elif node.type == "array":
            elements = (child for child in node.named_children if child.type not in _NO_VALUES)
            for index, element in enumerate(elements):
                if element.type in _COLLECTIONS:
                    element_key = element_name(node_name, index)
                    if element_key is not None:
                        named.append(
                            _Named(
                                _COLLECTIONS[element.type],
                                element_key,
                                qualifiers,
                                *element.byte_range,
                                element.has_error,
                            )
                        )
                    values.append((element, element_key))


def _key_parts(source: bytes, key: Node) -> list[str]:
    written = source[key.start_byte : key.end_byte].decode()
    return [unquoted(part) for part in _KEY_PART.findall(written)] or [written]
