"""C."""

from patchdiff.structure.extractors.declarators import declared
from patchdiff.structure.extractors.tree_sitter_extractor import TreeSitterExtractor

find = TreeSitterExtractor("tree_sitter_c", ["c_family"], refine=declared).find
