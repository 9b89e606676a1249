"""The tools of the profile `observed-editor-v2`: short names for editing in observed scopes."""

from dataclasses import replace
from typing import Any, Final

from patchdiff.catalog import TOOLS, Tool
from patchdiff.catalog_examples import CONTENT, TARGET
from patchdiff.catalog_schemas import (
    TARGET_ID_PATTERN,
    input_schema,
    optional_integer,
    optional_string,
    patterned,
    target_id,
)

HISTORY_LIMIT: Final = 20
LARGEST_HISTORY_LIMIT: Final = 50

_SNAPSHOT: Final = (
    "The answer's snapshot has target_file_id, version and current_hash as they are now."
)
_INITIALIZE: Final = TOOLS["patchdiff_initialize_target"]


def _alias(
    name: str, title: str, of: str, description: str, *, without: tuple[str, ...] = ()
) -> Tool:
    """The contract's tool `of` under the name `name`, some of its arguments left out."""
    tool = TOOLS[of]
    properties = {
        argument: schema
        for argument, schema in tool.input_schema["properties"].items()
        if argument not in without
    }
    schema: dict[str, Any] = {**tool.input_schema, "properties": properties}
    return replace(
        tool,
        name=name,
        title=title,
        description=f"{description} {_SNAPSHOT}",
        input_schema=schema,
        alias_of=of,
    )


OPEN: Final = replace(
    _INITIALIZE,
    name="open",
    title="Open a document",
    description=(
        "Make a document to edit, from filename and content or from a workspace file; or open an "
        "existing one by target_file_id alone. Answers what the document is, not its text. "
        f"{_SNAPSHOT}"
    ),
    input_schema={
        **input_schema(
            {
                "target_file_id": patterned(
                    TARGET_ID_PATTERN,
                    "Existing target to open, a UUID; then leave the others out.",
                    nullable=True,
                ),
                **_INITIALIZE.input_schema["properties"],
                "filename": {
                    **optional_string(
                        "Filename of a new document; with from_workspace a path below the "
                        "workspace root."
                    ),
                    "minLength": 1,
                },
            },
            (),
        ),
        "examples": [
            {"filename": "guide.md", "content": CONTENT, "content_type": "text/markdown"},
            {"target_file_id": TARGET},
        ],
    },
)

HISTORY: Final = Tool(
    name="history",
    title="History",
    description=(
        "List what happened to a document: attempts, accepted and rejected, newest first; or the "
        "accepted changes, oldest first within the newest page. Continue with "
        f"before_sequence=next_sequence until has_more is false. {_SNAPSHOT}"
    ),
    input_schema={
        **input_schema(
            {
                "target_file_id": target_id(),
                "view": {
                    "type": "string",
                    "enum": ["attempts", "changes"],
                    "default": "attempts",
                    "description": "Every attempt, or the changes of the accepted ones.",
                },
                "limit": optional_integer(
                    f"Most entries to return; null means {HISTORY_LIMIT}, more than "
                    f"{LARGEST_HISTORY_LIMIT} means {LARGEST_HISTORY_LIMIT}.",
                    minimum=1,
                ),
                "before_sequence": optional_integer(
                    "Cursor: the next_sequence of a page; null starts at the newest.", minimum=1
                ),
                "status": {
                    "type": ["string", "null"],
                    "enum": ["accepted", "rejected", None],
                    "default": None,
                    "description": "Only attempts with this status; null means both.",
                },
            },
            ("target_file_id",),
        ),
        "examples": [{"target_file_id": TARGET, "view": "attempts", "status": "rejected"}],
    },
    read_only=True,
    idempotent=True,
    destructive=False,
)

OBSERVED_EDITOR_TOOLS: Final = (
    OPEN,
    _alias(
        "read",
        "Read lines",
        "patchdiff_read_lines",
        "Read an inclusive range of lines, counted from 1. Continue with offset=next_offset and "
        "the same range.",
    ),
    _alias(
        "find",
        "Find text",
        "patchdiff_find_occurrences",
        "List where a text occurs exactly in the document, overlapping occurrences counted, with "
        "context.",
    ),
    _alias(
        "observe",
        "Observe a scope",
        "patchdiff_observe_scope",
        TOOLS["patchdiff_observe_scope"].description,
    ),
    _alias(
        "edit",
        "Edit observed scopes",
        "patchdiff_submit_observed_operations",
        TOOLS["patchdiff_submit_observed_operations"].description,
    ),
    _alias(
        "save",
        "Save a checkpoint",
        "patchdiff_save",
        TOOLS["patchdiff_save"].description,
        without=("export_after_save",),
    ),
    HISTORY,
)
"""The tools, in the order of their use."""
