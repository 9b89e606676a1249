"""CSS."""

from patchdiff.structure.extractors.tree_sitter_extractor import Candidate, TreeSitterExtractor


def _named(candidate: Candidate) -> bool:
    """Names an at-rule by all before the rest of it; leaves out all but custom properties."""
    rest = candidate.captures.get("rest")
    if rest is not None:
        prelude = candidate.source[candidate.start : rest[0].start_byte]
        candidate.name = prelude.decode().rstrip(" \t\n\f\r")
    return candidate.kind != "variable" or candidate.name.startswith("--")


find = TreeSitterExtractor("tree_sitter_css", ["css"], refine=_named).find
