"""C#."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor


def _destructor(candidate: Candidate) -> bool:
    """Keeps the tilde in the name of a destructor."""
    if "tilde" in candidate.captures:
        candidate.name = f"~{candidate.name}"
    return True


find = TreeSitterExtractor("tree_sitter_c_sharp", ["csharp"], refine=_destructor).find
