"""HTML."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor

_LANDMARKS = frozenset(
    (
        "article", "aside", "body", "footer", "form", "head", "header", "main", "nav", "script",
        "section", "style", "template", "title",
    )
)  # fmt: skip
_VOID = frozenset(
    (
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    )
)  # fmt: skip


def _named(candidate: Candidate) -> bool:
    """Names an element by its id, else a landmark by its tag; leaves out what has neither.

    Tags and the attribute's name are recognised in any case. A void element ends with its tag,
    whatever text the parser puts into it.
    """
    start_tag = candidate.captures["tag"][0]
    tag_node, *attributes = start_tag.named_children
    tag = candidate.text(tag_node).lower()
    if tag in _VOID:
        candidate.end = start_tag.end_byte
    for attribute in attributes:
        parts = attribute.named_children
        if len(parts) != 2 or candidate.text(parts[0]).lower() != "id":
            continue
        value = parts[1]
        if value.type == "quoted_attribute_value":
            if not value.named_child_count:
                break  # an empty id is none
            value = value.named_children[0]
        candidate.name_node, candidate.name = value, candidate.text(value)
        return True
    candidate.name_node, candidate.name = tag_node, candidate.text(tag_node)
    candidate.numbered = True
    return tag in _LANDMARKS


find = TreeSitterExtractor("tree_sitter_html", ["html"], refine=_named).find
