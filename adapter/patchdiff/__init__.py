"""PatchDIFF: guarded, atomic, audited and replayable document edits, recorded in PostgreSQL.

`Service` holds the tools as Python calls over one database connection; `patchdiff mcp` offers the
same tools to a model, and `ExternalMCPAdapter` does what that command does inside another program.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from patchdiff.external_adapter import ExternalMCPAdapter
    from patchdiff.service import Service

__all__ = ["ExternalMCPAdapter", "Service", "__version__"]

__version__ = version("patchdiff-pg")


def __getattr__(name: str) -> Any:
    # imported late: most commands do without the evaluator and its libraries
    if name == "Service":
        from patchdiff.service import Service

        return Service
    if name == "ExternalMCPAdapter":
        from patchdiff.external_adapter import ExternalMCPAdapter

        return ExternalMCPAdapter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
