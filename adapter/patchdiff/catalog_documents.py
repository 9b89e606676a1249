"""The tools that make, read and search a target (contract sections 1 and 2)."""

from typing import Final

from patchdiff.catalog_schemas import (
    UUID_PATTERN,
    boolean,
    input_schema,
    integer,
    optional_integer,
    optional_string,
    patterned,
    string,
    target_id,
)
from patchdiff.catalog_tool import Tool, read_tool

_FILENAME: Final = "Document filename, kept as given"
_PROJECT: Final = "Project UUID to file the target under; null for none."
_CONTEXT_OF_PAGE: Final = (
    "Each page is a fresh observation: compare version and current_hash between pages."
)

INITIALIZE_TARGET: Final = Tool(
    name="patchdiff_initialize_target",
    title="Initialize target",
    description=(
        "Create a document to edit, from content or from a workspace file, at version 0. Line "
        "endings are stored as LF, and those of the upload are reported in source_line_endings. "
        "Each call creates a new target."
    ),
    input_schema=input_schema(
        {
            "filename": string(
                f"{_FILENAME}; with from_workspace a path relative to the workspace root.",
                minimum_length=1,
            ),
            "content": optional_string(
                "Whole text of the document; required unless from_workspace is true, then omit it."
            ),
            "content_type": {
                **string('MIME type or language identifier, for example "text/markdown".'),
                "default": "text/plain",
            },
            "project_id": patterned(UUID_PATTERN, _PROJECT, nullable=True),
            "from_workspace": boolean(
                "Read filename below PATCHDIFF_WORKSPACE_ROOT instead of taking content."
            ),
        },
        ("filename",),
    ),
    read_only=False,
    idempotent=False,
    destructive=False,
)

HANDLE_UPLOAD: Final = Tool(
    name="patchdiff_handle_upload",
    title="Handle upload",
    description=(
        "Create a document to edit from an upload, at version 0; the same as "
        "patchdiff_initialize_target with inline content. Each call creates a new target."
    ),
    input_schema=input_schema(
        {
            "filename": string(f"{_FILENAME}.", minimum_length=1),
            "content": string("Whole text of the document; line endings are stored as LF."),
            "content_type": string(
                'MIME type or language identifier, for example "text/markdown".'
            ),
            "project_id": patterned(UUID_PATTERN, _PROJECT, nullable=True),
        },
        ("filename", "content", "content_type"),
    ),
    read_only=False,
    idempotent=False,
    destructive=False,
)

GET_TARGET: Final = read_tool(
    "patchdiff_get_target",
    "Get target",
    "Return a target's whole current text with its hash, version, editing cycle and recorded "
    "source line endings. For a large document page with patchdiff_read_target instead.",
    input_schema({"target_file_id": target_id()}, ("target_file_id",)),
)

EXPORT_FORMATS: Final = ("original_text", "canonical_lf", "crlf", "original_eol")
"""The formats of patchdiff_export_target (contract section "Line endings and export formats")."""

EXPORT_TARGET: Final = read_tool(
    "patchdiff_export_target",
    "Export target",
    "Return a target's whole text with the line endings asked for, and the hash of exactly that "
    "text. original_text is a legacy name of canonical_lf; original_eol writes the uniform line "
    "ending of the upload.",
    input_schema(
        {
            "target_file_id": target_id(),
            "format": {
                "type": "string",
                "enum": list(EXPORT_FORMATS),
                "default": "original_text",
                "description": "Line endings to return; original_text and canonical_lf are LF.",
            },
        },
        ("target_file_id",),
    ),
    format="unsupported_export_format",
)

READ_TARGET: Final = read_tool(
    "patchdiff_read_target",
    "Read target",
    "Read a slice of a target's current text by code-point offset. Continue with start=next_start "
    f"until it is null. {_CONTEXT_OF_PAGE}",
    input_schema(
        {
            "target_file_id": target_id(),
            "start": integer(
                "First code point to return, from 0 in the whole text; not a byte or UTF-16 index.",
                minimum=0,
                default=0,
            ),
            "length": optional_integer(
                "Most code points to return; null means 4000, more than 8000 means 8000.", minimum=1
            ),
        },
        ("target_file_id",),
    ),
)

READ_LINES: Final = read_tool(
    "patchdiff_read_lines",
    "Read lines",
    "Read an inclusive range of lines of a target's current text. Lines are counted from 1, end at "
    "LF only and include it. Continue with offset=next_offset and the same range, or with "
    f"patchdiff_read_target(start=next_start). {_CONTEXT_OF_PAGE}",
    input_schema(
        {
            "target_file_id": target_id(),
            "start_line": integer("First line, counted from 1.", minimum=1, default=1),
            "end_line": optional_integer(
                "Last line, inclusive; null means the last one.", minimum=1
            ),
            "offset": integer(
                "Code points to skip within the range: a previous next_offset, not next_start.",
                minimum=0,
                default=0,
            ),
            "max_chars": optional_integer(
                "Most code points to return; null means 4000, more than 8000 means 8000.", minimum=1
            ),
            "include_line_starts": boolean(
                "Also return the absolute code-point offset of each line that begins in the page."
            ),
        },
        ("target_file_id",),
    ),
)

FIND_OCCURRENCES: Final = read_tool(
    "patchdiff_find_occurrences",
    "Find occurrences",
    "List where a text occurs exactly in a target's current text, overlapping occurrences counted, "
    "with context. Indexes hold for the first edit of a transaction; later edits see renumbered "
    f"occurrences. {_CONTEXT_OF_PAGE}",
    input_schema(
        {
            "target_file_id": target_id(),
            "text": string(
                "Exact text to locate, taken literally; not a pattern.", minimum_length=1
            ),
            "context_chars": integer(
                "Code points of context on each side; more than 400 means 400.",
                minimum=0,
                default=40,
            ),
            "start_occurrence": integer(
                "First occurrence to return, from 1: a previous next_occurrence_index.",
                minimum=1,
                default=1,
            ),
            "max_results": integer(
                "Most occurrences to return; more than 200 means 200.", minimum=1, default=200
            ),
        },
        ("target_file_id", "text"),
    ),
)
