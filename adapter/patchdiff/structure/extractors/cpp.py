"""C++."""

from patchdiff.structure.extractors.declarators import declared
from patchdiff.structure.extractors.tree_sitter_extractor import TreeSitterExtractor

find = TreeSitterExtractor("tree_sitter_cpp", ["c_family", "cpp"], refine=declared).find
