"""JSON, with comments allowed: objects and items by their keys, elements by their places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import tree_sitter_json
from tree_sitter import Language, Node, Parser

from patchdiff.structure.extractors.source_text import code_points, element_name, unquoted
from patchdiff.structure.symbols import Found

_COLLECTIONS = {"object": "object", "array": "config_item"}
_NO_VALUES = frozenset(("comment", "ERROR"))


@cache
def _language() -> Language:
    return Language(tree_sitter_json.language())


def find(text: str) -> tuple[list[Found], bool]:
    """Every pair, and every object or array in an array; whether there is a syntax error.

    What lies in an erroneous part of the text is left out.
    """
    source = text.encode()
    root = Parser(_language()).parse(source).root_node
    offsets = code_points(source)
    found: list[Found] = []
    # values that may have more in them, and the names that their elements are called after
    values: list[tuple[Node, str | None]] = [(child, "") for child in root.named_children]
    while values:
        value, name = values.pop()
        kind = value.type
        if kind == "object":
            for pair in value.named_children:
                if pair.type == "pair":
                    _pair(source, offsets, pair, found, values)
        elif kind == "array":
            elements = [child for child in value.named_children if child.type not in _NO_VALUES]
            for index, element in enumerate(elements):
                symbol_kind = _COLLECTIONS.get(element.type)
                if symbol_kind is not None:
                    element_key = element_name(name, index)
                    if element_key is not None:
                        found.append(_found(symbol_kind, element_key, element, offsets))
                    values.append((element, element_key))
    return found, root.has_error


def _pair(
    source: bytes,
    offsets: Sequence[int],
    pair: Node,
    found: list[Found],
    values: list[tuple[Node, str | None]],
) -> None:
    parts = pair.named_children
    if len(parts) != 2:
        parts = [part for part in parts if part.type not in _NO_VALUES]
    if len(parts) != 2 or parts[0].is_missing:
        return
    key, value = parts
    name = unquoted(source[key.start_byte : key.end_byte].decode())
    kind = value.type
    found.append(_found("object" if kind == "object" else "config_item", name, pair, offsets))
    if kind in _COLLECTIONS:
        values.append((value, name))


def _found(kind: str, name: str, node: Node, offsets: Sequence[int]) -> Found:
    start, end = offsets[node.start_byte], offsets[node.end_byte]
    return Found(kind, name, start, end, has_error=node.has_error)
