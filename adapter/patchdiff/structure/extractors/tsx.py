"""TypeScript with JSX."""

from patchdiff.structure.extractors.ecmascript import assigned
from patchdiff.structure.extractors.tree_sitter_extractor import TreeSitterExtractor

find = TreeSitterExtractor(
    "tree_sitter_typescript",
    ["ecmascript", "typescript"],
    function="language_tsx",
    refine=assigned,
).find
