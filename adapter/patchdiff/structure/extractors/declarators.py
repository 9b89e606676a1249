"""Finds what the declarators of C and C++ name, and the qualifiers of names."""

from __future__ import annotations

from tree_sitter import Node

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate

_AROUND = frozenset(
    (
        "array_declarator", "attributed_declarator", "function_declarator", "init_declarator",
        "parenthesized_declarator", "pointer_declarator", "reference_declarator",
    )
)  # fmt: skip
_TRANSPARENT = frozenset(("attributed_declarator", "init_declarator", "parenthesized_declarator"))
_NAMES = frozenset(
    (
        "destructor_name", "field_identifier", "identifier", "namespace_identifier",
        "nested_namespace_specifier", "operator_cast", "operator_name", "primitive_type",
        "qualified_identifier", "template_function", "template_method", "template_type",
        "type_identifier",
    )
)  # fmt: skip


def declared(candidate: Candidate) -> bool:
    """Names a candidate by its declarator and splits its qualifiers off.

    A variable whose declarator is that of a function is a signature; a signature whose declarator
    is not, a field, is left out.
    """
    node, is_function = candidate.name_node, False
    declarators = candidate.captures.get("declarator")
    if declarators is not None:
        node, is_function = _named(declarators[0])
    if node is None:
        return False
    qualifiers: list[str] = []
    while node.type == "qualified_identifier":
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        if name is None:
            return False
        if scope is not None:
            qualifiers.append(candidate.text(_bare(scope)))
        node = name
    if node.type == "primitive_type" and candidate.kind != "type":
        return False  # a typedef may name size_t, but `f(void) {}` does not name void
    candidate.name_node = node
    candidate.qualifiers = tuple(qualifiers)
    candidate.name = _name(candidate, node)
    if node.type == "operator_cast":
        is_function = True
    if candidate.kind == "variable" and is_function:
        candidate.kind = "signature"
    return candidate.kind != "signature" or is_function


def _named(declarator: Node) -> tuple[Node | None, bool]:
    """The name in a declarator, and whether it is that of a function."""
    node: Node | None = declarator
    is_function = False
    while node is not None and node.type not in _NAMES:
        if node.type not in _AROUND:
            return None, False
        if node.type not in _TRANSPARENT:
            is_function = node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inside = _AROUND | _NAMES
            inner = next((one for one in node.named_children if one.type in inside), None)
        node = inner
    return node, is_function


def _bare(scope: Node) -> Node:
    """A qualifier without its template arguments."""
    name = scope.child_by_field_name("name") if scope.type == "template_type" else None
    return scope if name is None else name


def _name(candidate: Candidate, node: Node) -> str:
    """The text of a name; that of a conversion ends before its parameters."""
    if node.type != "operator_cast":
        return candidate.text(node)
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "abstract_function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    end = node.end_byte if declarator is None else declarator.start_byte
    return candidate.source[node.start_byte : end].decode().rstrip()
