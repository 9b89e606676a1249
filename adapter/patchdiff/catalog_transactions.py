"""The tools that submit transactions and show their history (contract sections 3 and 4)."""

from typing import Final

from patchdiff.admission import MAXIMUM_CODE_POINTS, MAXIMUM_UTF8_BYTES
from patchdiff.catalog_schemas import (
    OPERATION_JSON_SCHEMA,
    REQUEST_ID_PATTERN,
    SHA256_PATTERN,
    TARGET_ID_PATTERN,
    TYPED_EDIT_JSON_SCHEMA,
    Schema,
    boolean,
    input_schema,
    optional_integer,
    optional_string,
    patterned,
    string,
    target_id,
)
from patchdiff.catalog_tool import Tool, read_tool
from patchdiff.records import (
    OPERATIONS,
    REPLACEMENT,
    REPLACEMENT_RUNTIME,
    SPAN_CONTEXT_RUNTIME,
    SPAN_RUNTIME,
    TYPED_EDITS,
)

_GUARD_RULE: Final = (
    "At least one of expected_target_version and expected_current_hash is required, and every "
    "guard supplied must hold; prefer the version, since a hash alone cannot detect changes that "
    "were made and undone in between."
)

_READ_STATUS: Final = (
    "Read status in the answer: accepted, or rejected with failure_reason and diagnostic. A "
    "rejection changes nothing; read again, then submit anew."
)


REQUEST_PROPERTIES: Final[dict[str, Schema]] = {
    "client_request_id": patterned(
        REQUEST_ID_PATTERN,
        "Key of this request, 1 to 128 printable ASCII characters: an identical repeat "
        "returns the recorded outcome.",
        nullable=True,
    ),
    "parent_pdcp_log_id": patterned(
        TARGET_ID_PATTERN,
        "When retrying: pdcp_log_id of the rejected attempt on the same target.",
        nullable=True,
    ),
    "attempt": optional_integer("When retrying: number of the attempt, from 1.", minimum=1),
    "source": {
        **string("Who made the proposal, kept in the log."),
        "default": "model_response",
    },
    "include_correlation_id": boolean("Also return a fresh correlation_id; it is never stored."),
}
"""What every submission takes beside its proposal and its guards."""


def _submission_tool(
    name: str,
    title: str,
    description: str,
    proposal: dict[str, Schema],
    capabilities: Schema | None = None,
) -> Tool:
    """A tool that submits a proposal: what all of them share is said here once."""
    schema = input_schema(
        {
            "target_file_id": target_id(),
            "intent": string(
                "What the whole transaction is for, in a sentence; kept in the ledger."
            ),
            **proposal,
            "expected_target_version": optional_integer(
                "Guard: the version the proposal was derived from; required unless "
                "expected_current_hash is given.",
                minimum=0,
            ),
            "expected_current_hash": patterned(
                SHA256_PATTERN,
                "Guard: the current_hash the proposal was derived from; required unless "
                "expected_target_version is given.",
                nullable=True,
            ),
            **REQUEST_PROPERTIES,
        },
        ("target_file_id", "intent", *proposal),
    )
    if capabilities is not None:
        schema["x-patchdiff-capabilities"] = capabilities
    return Tool(
        name=name,
        title=title,
        description=f"{description} {_GUARD_RULE} {_READ_STATUS}",
        input_schema=schema,
        read_only=False,
        idempotent=False,
        destructive=True,
        refusal_codes={"include_correlation_id": "invalid_include_correlation_id"},
        checked_arguments=frozenset({"include_correlation_id"}),
    )


SUBMIT_EDITS: Final = _submission_tool(
    "patchdiff_submit_edits",
    "Submit edits",
    "Apply exact-match edits to a target, all of them or none, in list order, as one audited "
    "transaction (patchdiff-tx/1).",
    {
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": TYPED_EDIT_JSON_SCHEMA,
            "description": "Edits, applied in order, each to the text the previous ones left.",
        }
    },
)

SUBMIT_OPERATIONS: Final = _submission_tool(
    "patchdiff_submit_operations",
    "Submit operations",
    "Apply matches and spans to a target, all of them or none, in list order, as one audited "
    "transaction (patchdiff-tx/2). Spans count code points of the text as earlier operations left "
    "it: order several spans of one read by descending start.",
    {
        "operations": {
            "type": "array",
            "minItems": 1,
            "items": OPERATION_JSON_SCHEMA,
            "description": "Operations, applied in order, each to the text earlier ones left.",
        }
    },
    {
        "protocol": OPERATIONS,
        "runtime": SPAN_RUNTIME,
        "operations": ["match", "span"],
        "coordinates": "sequential canonical code points, end exclusive",
        "insertion": "span with start equal to end and an empty expected_text",
        "span_context": {
            "fields": ["expected_before", "expected_after"],
            "runtime": SPAN_CONTEXT_RUNTIME,
        },
    },
)

SUBMIT_REPLACEMENT: Final = _submission_tool(
    "patchdiff_submit_replacement",
    "Submit whole replacement",
    "Replace a target's whole text as one audited transaction (patchdiff-tx/3). For a real rewrite "
    "only; a set of changes belongs into edits or operations.",
    {"replacement": string('The whole new text, taken literally; "" empties the document.')},
    {
        "protocol": REPLACEMENT,
        "runtime": REPLACEMENT_RUNTIME,
        "operations": ["replace_all"],
        "size_limits": {
            "code_points": MAXIMUM_CODE_POINTS,
            "utf8_bytes": MAXIMUM_UTF8_BYTES,
        },
    },
)

PREVIEW: Final = Tool(
    name="patchdiff_preview",
    title="Preview a proposal",
    description=(
        "Judge a proposal as its submission would be judged now, without recording anything. "
        f"format names the transaction: {TYPED_EDITS} takes intent and edits, {OPERATIONS} intent "
        f"and operations, {REPLACEMENT} intent and replacement; leave the other fields out. "
        f"{_GUARD_RULE} The answer is advice with bounded evidence and reserves nothing: "
        "submission checks again."
    ),
    input_schema=input_schema(
        {
            "target_file_id": target_id(),
            "format": {
                "type": "string",
                "enum": [TYPED_EDITS, OPERATIONS, REPLACEMENT],
                "description": "Transaction format of the proposal; it says which fields it has.",
            },
            **{
                name: SUBMIT_EDITS.input_schema["properties"][name]
                for name in ("expected_target_version", "expected_current_hash")
            },
            "intent": string("What the whole transaction is for, in a sentence."),
            "edits": SUBMIT_EDITS.input_schema["properties"]["edits"],
            "operations": SUBMIT_OPERATIONS.input_schema["properties"]["operations"],
            "replacement": SUBMIT_REPLACEMENT.input_schema["properties"]["replacement"],
        },
        ("target_file_id", "format"),
    ),
    read_only=True,
    idempotent=True,
    destructive=False,
    refusal_codes={},
    checked_arguments=frozenset(),
)

SAVE: Final = Tool(
    name="patchdiff_save",
    title="Save a checkpoint",
    description=(
        "Keep a target's current text as a snapshot and begin a new editing cycle; text, hash and "
        "version stay. Give expected_target_version to save only what you have read. With "
        "sync_workspace the text is also published to the target's file."
    ),
    input_schema=input_schema(
        {
            "target_file_id": target_id(),
            **{
                name: SUBMIT_EDITS.input_schema["properties"][name]
                for name in ("expected_target_version", "expected_current_hash")
            },
            "export_after_save": boolean("Also return the saved text, with LF line endings."),
            "sync_workspace": {
                "type": ["boolean", "null"],
                "default": None,
                "description": "Publish to the file below PATCHDIFF_WORKSPACE_ROOT; null follows "
                "PATCHDIFF_WORKSPACE_SYNC_ON_SAVE.",
            },
            "workspace_eol_format": {
                "type": "string",
                "enum": ["original_eol", "canonical_lf", "crlf"],
                "default": "original_eol",
                "description": "Line endings to publish; original_eol is that of the source.",
            },
        },
        ("target_file_id",),
    ),
    read_only=False,
    idempotent=False,
    destructive=False,
    checked_arguments=frozenset(
        {"target_file_id", "export_after_save", "sync_workspace", "workspace_eol_format"}
    ),
)

REPLAY: Final = read_tool(
    "patchdiff_replay",
    "Replay the history",
    "Build a target's text anew from its initial snapshot and every accepted record, and compare "
    "it with what is stored. Reports divergence and repairs nothing.",
    input_schema({"target_file_id": target_id()}, ("target_file_id",)),
)

_LIMIT: Final = "Most entries to return; null means 50, more than 200 means 200."

GET_PDCP_LOG: Final = read_tool(
    "patchdiff_get_pdcp_log",
    "Get attempt log",
    "List a target's attempts, accepted and rejected, newest first. Continue with "
    "before_sequence=next_sequence until has_more is false.",
    input_schema(
        {
            "target_file_id": target_id(),
            "limit": optional_integer(_LIMIT, minimum=1),
            "before_sequence": optional_integer(
                "Cursor: only attempts with a lower log_sequence; null starts at the newest.",
                minimum=1,
            ),
            "status": {
                "type": ["string", "null"],
                "enum": ["accepted", "rejected", None],
                "default": None,
                "description": "Only attempts with this status; null means both.",
            },
            "content_hash": optional_string(
                "Only attempts whose record has exactly this SHA-256 (pdcp_content_hash)."
            ),
            "client_request_id": optional_string(
                "Only attempts stored with exactly this key, legacy keys included."
            ),
            "include_content": boolean(
                "Also return the stored records, at most 1048576 UTF-8 bytes a page."
            ),
        },
        ("target_file_id",),
    ),
)

GET_MANIFEST_LEDGER: Final = read_tool(
    "patchdiff_get_manifest_ledger",
    "Get manifest ledger",
    "List the changes of a target's accepted attempts: the newest page, oldest first within it. "
    "Continue towards older ones with before_sequence=next_sequence until has_more is false.",
    input_schema(
        {
            "target_file_id": target_id(),
            "include_previous_cycles": boolean(
                "Also list cycles that a save has closed; false lists the active one only."
            ),
            "limit": optional_integer(_LIMIT, minimum=1),
            "before_sequence": optional_integer(
                "Cursor: only entries with a lower ledger_sequence; null starts at the newest.",
                minimum=1,
            ),
        },
        ("target_file_id",),
    ),
)
