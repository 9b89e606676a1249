"""The tools of the contract as they are advertised: names, texts, input schemas, annotations.

Contract sections 1 to 4 say what each tool takes; "Discovery, argument errors and examples" says
how it is advertised. The schemas of reads and history are also the check at run time
(`patchdiff.arguments`), so they are exact.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from patchdiff import catalog_documents, catalog_structure, catalog_transactions
from patchdiff.catalog_examples import with_examples
from patchdiff.catalog_tool import Tool

__all__ = ["TOOLS", "Tool"]

TOOLS: Final[Mapping[str, Tool]] = MappingProxyType(
    {
        tool.name: with_examples(tool)
        for tool in (
            catalog_documents.INITIALIZE_TARGET,
            catalog_documents.HANDLE_UPLOAD,
            catalog_documents.GET_TARGET,
            catalog_documents.EXPORT_TARGET,
            catalog_documents.READ_TARGET,
            catalog_documents.READ_LINES,
            catalog_documents.FIND_OCCURRENCES,
            catalog_transactions.SUBMIT_EDITS,
            catalog_transactions.SUBMIT_OPERATIONS,
            catalog_transactions.SUBMIT_REPLACEMENT,
            catalog_transactions.PREVIEW,
            catalog_transactions.SAVE,
            catalog_transactions.REPLAY,
            catalog_transactions.GET_PDCP_LOG,
            catalog_transactions.GET_MANIFEST_LEDGER,
            catalog_structure.OBSERVE_SCOPE,
            catalog_structure.SUBMIT_OBSERVED_OPERATIONS,
        )
    }
)
"""Every tool by name, in the contract's order."""
