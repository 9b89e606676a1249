"""The tools that submit transactions and show their history (contract sections 3 and 4)."""

from typing import Final

from patchdiff.catalog_schemas import (
    REQUEST_ID_PATTERN,
    SHA256_PATTERN,
    TARGET_ID_PATTERN,
    TYPED_EDIT_JSON_SCHEMA,
    boolean,
    input_schema,
    optional_integer,
    optional_string,
    patterned,
    string,
    target_id,
)
from patchdiff.catalog_tool import Tool, read_tool

_GUARD_RULE: Final = (
    "At least one of expected_target_version and expected_current_hash is required, and every "
    "guard supplied must hold; prefer the version, since a hash alone cannot detect changes that "
    "were made and undone in between."
)

SUBMIT_EDITS: Final = Tool(
    name="patchdiff_submit_edits",
    title="Submit edits",
    description=(
        "Apply exact-match edits to a target, all of them or none, in list order, as one audited "
        f"transaction (patchdiff-tx/1). {_GUARD_RULE} Read status in the answer: accepted, or "
        "rejected with failure_reason and diagnostic. A rejection changes nothing; read again, "
        "then submit anew."
    ),
    input_schema=input_schema(
        {
            "target_file_id": target_id(),
            "intent": string(
                "What the whole transaction is for, in a sentence; kept in the ledger."
            ),
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": TYPED_EDIT_JSON_SCHEMA,
                "description": "Edits, applied in order, each to the text the previous ones left.",
            },
            "expected_target_version": optional_integer(
                "Guard: the version the edits were derived from; required unless "
                "expected_current_hash is given.",
                minimum=0,
            ),
            "expected_current_hash": patterned(
                SHA256_PATTERN,
                "Guard: the current_hash the edits were derived from; required unless "
                "expected_target_version is given.",
                nullable=True,
            ),
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
            "include_correlation_id": boolean(
                "Also return a fresh correlation_id; it is never stored."
            ),
        },
        ("target_file_id", "intent", "edits"),
    ),
    read_only=False,
    idempotent=False,
    destructive=True,
    refusal_codes={"include_correlation_id": "invalid_include_correlation_id"},
    checked_arguments=frozenset({"include_correlation_id"}),
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
