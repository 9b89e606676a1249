"""CSS."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor


def _named(candidate: Candidate) -> bool:
    """Names an at-rule by all before its block; leaves out all but custom properties."""
    if candidate.kind == "variable":
        return candidate.name.startswith("--")
    if candidate.source[candidate.start : candidate.start + 1] == b"@":
        blocks = candidate.captures.get("block")
        end = blocks[0].start_byte if blocks else candidate.end
        candidate.name = candidate.source[candidate.start : end].decode().rstrip("; \t\n\f\r")
    return True


find = TreeSitterExtractor("tree_sitter_css", ["css"], refine=_named).find
