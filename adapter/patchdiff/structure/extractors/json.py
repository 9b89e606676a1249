"""JSON, with comments allowed: objects and items by their keys, elements by their places."""

from __future__ import annotations

from functools import cache

import tree_sitter_json
from tree_sitter import Language, Node, Parser

from patchdiff.structure.extractors.source_text import element_name, in_code_points, unquoted
from patchdiff.structure.symbols import Found


@cache
def _language() -> Language:
    return Language(tree_sitter_json.language())


def find(text: str) -> tuple[list[Found], bool]:
    """Every pair, and every object or array in an array; whether there is a syntax error.

    What lies in an erroneous part of the text is left out.
    """
    source = text.encode()
    root = Parser(_language()).parse(source).root_node
    named: list[tuple[str, str, Node]] = []
    values: list[tuple[Node, str | None]] = [(child, "") for child in root.named_children]
    while values:
        value, name = values.pop()
        if value.type == "object":
            for pair in value.named_children:
                if pair.type == "pair":
                    _pair(source, pair, named, values)
        elif value.type == "array":
            elements = (child for child in value.named_children if child.type not in _NO_VALUES)
            for index, element in enumerate(elements):
                if element.type in _COLLECTIONS:
                    element_key = element_name(name, index)
                    if element_key is not None:
                        named.append((_COLLECTIONS[element.type], element_key, element))
                    values.append((element, element_key))
    spans = in_code_points(source, [node.byte_range for _, _, node in named])
    found = [
        Found(kind, name, start, end, has_error=node.has_error)
        for (kind, name, node), (start, end) in zip(named, spans, strict=True)
    ]
    return found, root.has_error


_COLLECTIONS = {"object": "object", "array": "config_item"}
_NO_VALUES = frozenset(("comment", "ERROR"))


def _pair(
    source: bytes,
    pair: Node,
    named: list[tuple[str, str, Node]],
    values: list[tuple[Node, str | None]],
) -> None:
    parts = [child for child in pair.named_children if child.type not in _NO_VALUES]
    if len(parts) != 2 or parts[0].is_missing:
        return
    key, value = parts
    name = unquoted(source[key.start_byte : key.end_byte].decode())
    kind = value.type
    named.append(("object" if kind == "object" else "config_item", name, pair))
    if kind in _COLLECTIONS:
        values.append((value, name))
