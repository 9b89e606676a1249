"""YAML: mappings are objects, everything else with a key is an item. Nothing is ever constructed.

The spans come from the marks of libyaml's events, which count code points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from patchdiff.structure.extractors.source_text import element_name, unquoted
from patchdiff.structure.symbols import Found

if not yaml.__with_libyaml__:
    raise ImportError("PyYAML has been built without libyaml, which the structural engine needs")

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")


@dataclass(slots=True)
class _Collection:
    """A mapping, sequence or document that is not complete yet.

    ``end`` is where what is in it so far ends. ``index`` counts the elements of a sequence. A
    mapping's ``key_start`` is None where a key comes next; ``key`` is None where the key cannot be
    a name. ``name`` is what the elements of a sequence are named after.
    """

    kind: str
    name: str | None
    start: int
    end: int
    index: int = 0
    key: str | None = None
    key_start: int | None = None


def find(text: str) -> tuple[list[Found], bool]:
    """Every pair, every mapping or sequence in a sequence, and every document of several.

    Nothing at all is found in a text with a syntax error: the events stop there.
    """
    found: list[Found] = []
    documents: list[Found] = []
    opened: list[_Collection] = []
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            assert event.start_mark is not None
            assert event.end_mark is not None
            start, end = event.start_mark.index, event.end_mark.index
            if isinstance(event, yaml.ScalarEvent):
                key = _key(text, event) if opened[-1].kind == "mapping" else None
                _complete(opened[-1], "scalar", start, end, key, found)
            elif isinstance(event, yaml.AliasEvent):
                _complete(opened[-1], "alias", start, end, None, found)
            elif isinstance(event, yaml.CollectionStartEvent):
                kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
                name = _name(opened[-1])
                opened.append(_Collection(kind, name, start, start))
            elif isinstance(event, yaml.CollectionEndEvent):
                one = opened.pop()
                if end > start:  # a closing bracket: what has none ends with the last thing in it
                    one.end = end
                _complete(opened[-1], one.kind, one.start, one.end, None, found)
            elif isinstance(event, yaml.DocumentStartEvent):
                opened.append(_Collection("document", "", end, end))
            elif isinstance(event, yaml.DocumentEndEvent):
                one = opened.pop()
                name = f"document[{len(documents)}]"
                documents.append(Found("object", name, one.start, one.end))
    except yaml.YAMLError:
        return [], True
    found.reverse()  # of two with the same span, the outer one was complete last
    return ([*documents, *found] if len(documents) > 1 else found), False


def _name(around: _Collection) -> str | None:
    """The name of a collection that begins in another."""
    if around.kind == "sequence":
        return element_name(around.name, around.index)
    return around.key if around.kind == "mapping" else around.name


def _key(text: str, event: yaml.ScalarEvent) -> str | None:
    """A scalar as the name of a pair, as written; None when it has several lines."""
    assert event.start_mark is not None
    assert event.end_mark is not None
    if event.start_mark.line != event.end_mark.line:
        return None
    written = text[event.start_mark.index : event.end_mark.index]
    if event.anchor is not None or event.tag is not None:
        written = _PROPERTIES.sub("", written, count=1)
    return unquoted(written) if event.style in ("'", '"') else written


def _complete(
    around: _Collection, kind: str, start: int, end: int, key: str | None, found: list[Found]
) -> None:
    """Takes note of a node that ends in ``around``: a key, a value, an element or a document."""
    around.end = max(around.end, end)
    symbol_kind = "object" if kind == "mapping" else "config_item"
    if around.kind == "sequence":
        if kind in ("mapping", "sequence"):
            name = element_name(around.name, around.index)
            if name is not None:
                found.append(Found(symbol_kind, name, start, end))
        around.index += 1
    elif around.kind == "document":
        around.start = start
    elif around.key_start is None:
        around.key, around.key_start = key, start
    else:
        if around.key is not None:
            found.append(Found(symbol_kind, around.key, around.key_start, max(around.end, end)))
        around.key = around.key_start = None
