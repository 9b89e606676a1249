"""Rust."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor

_INNER_FIELD = {
    "dynamic_type": "trait",
    "generic_type": "type",
    "pointer_type": "type",
    "reference_type": "type",
    "scoped_type_identifier": "name",
}


def _impl(candidate: Candidate) -> bool:
    """Names an `impl` without its own parameters, and labels it with the bare name of its type."""
    if candidate.kind != "impl":
        return True
    implemented = candidate.captures["name"][0]
    begins = candidate.captures.get("negated") or candidate.captures.get("trait_of")
    start = (begins or (implemented,))[0].start_byte
    candidate.name = "impl " + candidate.source[start : implemented.end_byte].decode()
    bare = implemented
    while (inner := bare.child_by_field_name(_INNER_FIELD.get(bare.type, ""))) is not None:
        bare = inner
    candidate.label = candidate.text(bare)
    return True


find = TreeSitterExtractor("tree_sitter_rust", ["rust"], refine=_impl).find
