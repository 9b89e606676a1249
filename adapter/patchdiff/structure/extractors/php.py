"""PHP, with the text around it."""

from patchdiff.structure.extractors.tree_sitter_extractor import TreeSitterExtractor

find = TreeSitterExtractor("tree_sitter_php", ["php"], function="language_php").find
