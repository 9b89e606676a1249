"""Ruby."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor


def _qualified(candidate: Candidate) -> bool:
    """Splits the modules off a name, and puts its object before that of a singleton method."""
    objects = candidate.captures.get("object")
    if objects is not None:
        candidate.name = f"{candidate.text(objects[0])}.{candidate.name}"
    node = candidate.name_node
    if node is None or node.type != "scope_resolution":
        return True
    name, scope = node.child_by_field_name("name"), node.child_by_field_name("scope")
    if name is None:
        return False
    candidate.name_node, candidate.name = name, candidate.text(name)
    qualifiers: list[str] = []
    while scope is not None and scope.type == "scope_resolution":
        name = scope.child_by_field_name("name")
        if name is None:
            return False
        qualifiers.append(candidate.text(name))
        scope = scope.child_by_field_name("scope")
    if scope is not None:
        qualifiers.append(candidate.text(scope))
    candidate.qualifiers = tuple(reversed(qualifiers))
    return True


find = TreeSitterExtractor("tree_sitter_ruby", ["ruby"], refine=_qualified).find
