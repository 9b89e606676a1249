"""Go."""

from patchdiff.structure.extractors.tree_sitter_extractor import TreeSitterExtractor

find = TreeSitterExtractor("tree_sitter_go", ["go"]).find
