"""What JavaScript and TypeScript have in common beside their queries."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate

_NOT_QUALIFIERS = frozenset(("exports", "module", "prototype", "this"))
_PLAIN = frozenset(("identifier", "property_identifier", "private_property_identifier", "this"))


def assigned(candidate: Candidate) -> bool:
    """Qualifies a function that is assigned to a member by what the member belongs to.

    `A.prototype.f = function () {}` is `f` of `A`. Members of anything but a chain of names are
    no symbols.
    """
    members = candidate.captures.get("assigned")
    if members is None:
        return True
    qualifiers: list[str] = []
    node = members[0].child_by_field_name("object")
    while node is not None and node.type == "member_expression":
        owner = node.child_by_field_name("property")
        if owner is None:
            return False
        qualifiers.append(candidate.text(owner))
        node = node.child_by_field_name("object")
    if node is None or node.type not in _PLAIN:
        return False
    qualifiers.append(candidate.text(node))
    candidate.qualifiers = tuple(
        name for name in reversed(qualifiers) if name not in _NOT_QUALIFIERS
    )
    return True
