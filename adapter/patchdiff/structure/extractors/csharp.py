"""C#."""

from __future__ import annotations

from tree_sitter import Node

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor


def _completed(candidate: Candidate) -> bool:
    """Keeps the tilde of a destructor, and qualifies a member by the interface it names."""
    if "tilde" in candidate.captures:
        candidate.name = f"~{candidate.name}"
    explicit = candidate.captures.get("explicit")
    if explicit is not None:
        qualifiers: list[str] = []
        node: Node | None = explicit[0]
        while node is not None:
            is_qualified = node.type == "qualified_name"
            last = node.child_by_field_name("name") if is_qualified else node
            if last is None:
                return False
            without_arguments = last.named_children[0] if last.type == "generic_name" else last
            qualifiers.append(candidate.text(without_arguments))
            node = node.child_by_field_name("qualifier") if is_qualified else None
        candidate.qualifiers = tuple(reversed(qualifiers))
    return True


find = TreeSitterExtractor("tree_sitter_c_sharp", ["csharp"], refine=_completed).find
