"""TypeScript."""

from patchdiff.structure.extractors.ecmascript import assigned
from patchdiff.structure.extractors.tree_sitter_extractor import TreeSitterExtractor

find = TreeSitterExtractor(
    "tree_sitter_typescript",
    ["ecmascript", "typescript"],
    function="language_typescript",
    refine=assigned,
).find
