"""The tools of the profile `workspace`: files of a workspace, edited in scopes and published."""

from dataclasses import replace
from typing import Any, Final

from patchdiff.catalog import TOOLS, Tool

_INITIALIZE: Final = TOOLS["patchdiff_initialize_target"]


def _narrowed(tool: Tool, **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of `tool`, without its examples, with these properties in place of its own."""
    schema = {name: value for name, value in tool.input_schema.items() if name != "examples"}
    return {**schema, "properties": {**schema["properties"], **properties}}


IMPORT_TARGET: Final = replace(
    _INITIALIZE,
    description=(
        "Import a file of the workspace as a document to edit, at version 0: filename is its path "
        "below the workspace root, and from_workspace must be true. Line endings are stored as LF, "
        "and those of the file are reported in source_line_endings. Each call creates a new target."
    ),
    input_schema={
        **_narrowed(
            _INITIALIZE,
            content={
                "type": "null",
                "default": None,
                "description": "Leave it out: the text is that of the file.",
            },
            from_workspace={
                "type": "boolean",
                "enum": [True],
                "description": "Must be given and true: this profile imports files only.",
            },
        ),
        "examples": [{"filename": "docs/guide.md", "from_workspace": True}],
    },
)
"""patchdiff_initialize_target, for imports only."""

_SAVE: Final = TOOLS["patchdiff_save"]

PUBLISHING_SAVE: Final = replace(
    _SAVE,
    description=(
        "Publish a target's current text to its file in the workspace, keep it as a snapshot and "
        "begin a new editing cycle; text, hash and version stay. Give expected_target_version to "
        "publish only what you have read. workspace_sync in the answer says what was written."
    ),
    input_schema=_narrowed(
        _SAVE,
        sync_workspace={
            "type": ["boolean", "null"],
            "enum": [True, None],
            "default": None,
            "description": "Leave it out: this profile always publishes.",
        },
    ),
)
"""patchdiff_save, which always publishes."""

WORKSPACE_TOOLS: Final = (
    IMPORT_TARGET,
    # the other way to go on is a tool that this profile has not
    replace(
        TOOLS["patchdiff_read_lines"],
        description=TOOLS["patchdiff_read_lines"].description.replace(
            ", or with patchdiff_read_target(start=next_start)", ""
        ),
    ),
    TOOLS["patchdiff_observe_scope"],
    TOOLS["patchdiff_submit_observed_operations"],
    PUBLISHING_SAVE,
)
"""The tools, in the contract's order."""
