"""The profiles: which tools a session offers, and what serves them (decisions, section 7)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from patchdiff import instructions
from patchdiff.catalog import TOOLS, Tool
from patchdiff.catalog_observed_editor import OBSERVED_EDITOR_TOOLS
from patchdiff.catalog_plastic import PLASTIC_TOOLS
from patchdiff.catalog_workspace import WORKSPACE_TOOLS
from patchdiff.observed_editor import ObservedEditor, with_snapshot
from patchdiff.service import Service
from patchdiff.settings import Settings
from patchdiff.workspace_service import WorkspaceService

JsonObject = dict[str, Any]


def _as_it_is(_arguments: Mapping[str, object], payload: JsonObject) -> JsonObject:
    return payload


@dataclass(frozen=True)
class Profile:
    """What one profile offers.

    `service` makes what has a method for each tool, of a connection and the options of
    `patchdiff.Service`. `completed` adds to the payload of any answer, refusals of the server's own
    included, what every answer of the profile has. `needs_workspace` refuses a start without
    PATCHDIFF_WORKSPACE_ROOT. Without `needs_database` there is no service and no database.
    """

    name: str
    tools: tuple[Tool, ...]
    instructions: str
    service: Callable[..., object] = Service
    completed: Callable[[Mapping[str, object], JsonObject], JsonObject] = _as_it_is
    needs_workspace: bool = False
    needs_database: bool = True


PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Profile("full", tuple(TOOLS.values()), instructions.FULL),
            Profile(
                "reader",
                tuple(tool for tool in TOOLS.values() if tool.read_only),
                instructions.READER,
            ),
            Profile(
                "observed-editor-v2",
                OBSERVED_EDITOR_TOOLS,
                instructions.OBSERVED_EDITOR,
                service=ObservedEditor,
                completed=with_snapshot,
            ),
            Profile(
                "workspace",
                WORKSPACE_TOOLS,
                instructions.WORKSPACE,
                service=WorkspaceService,
                needs_workspace=True,
            ),
            Profile("plastic", PLASTIC_TOOLS, instructions.PLASTIC, needs_database=False),
        )
    }
)
"""The profiles by name, each one that the settings allow."""


def profile_problem(settings: Settings) -> str | None:
    """What keeps the chosen profile from being served, in one line; None when nothing does."""
    profile = PROFILES[settings.mcp_profile]
    if profile.needs_workspace and settings.workspace_root is None:
        return (
            f"PATCHDIFF_MCP_PROFILE={profile.name} needs PATCHDIFF_WORKSPACE_ROOT: "
            "set it to the absolute path of an existing directory"
        )
    return None
