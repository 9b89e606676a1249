"""The tools that observe scopes and edit inside them (contract, "Structural Observation and Scoped
Submission")."""

from typing import Final

from patchdiff.catalog_schemas import (
    OPERATION_JSON_SCHEMA,
    SHA256_PATTERN,
    TARGET_ID_PATTERN,
    Schema,
    boolean,
    input_schema,
    integer,
    optional_integer,
    patterned,
    string,
    target_id,
)
from patchdiff.catalog_tool import Tool
from patchdiff.catalog_transactions import REQUEST_PROPERTIES
from patchdiff.decoding import BATCH_OPERATIONS, GROUPS
from patchdiff.observation import SELECTIONS

_NAME: Final = "Exact symbol name, or parent.name; selects the one symbol that has it."
_KIND: Final = "Exact symbol kind: function, class, method, section, object, document, ..."


def _selector(description: str) -> Schema:
    return {
        "type": ["string", "null"],
        "minLength": 1,
        "default": None,
        "description": description,
    }


def _receipt_id(description: str) -> Schema:
    return patterned(TARGET_ID_PATTERN, description, nullable=True)


OBSERVE_SCOPE: Final = Tool(
    name="patchdiff_observe_scope",
    title="Observe a scope",
    description=(
        "List the symbols of a target, or select some exactly and get receipts to edit inside "
        "them. Without a selector: candidates, filtered by query and kind. symbol_name: one "
        "receipt with the first page of its text. selections: a bundle of receipts. "
        "observation_id and offset: a further page. Receipts hold for this version only."
    ),
    input_schema=input_schema(
        {
            "target_file_id": target_id(),
            "query": _selector("Filter of candidates: part of the name, in any case."),
            "symbol_name": _selector(_NAME),
            "kind": _selector(_KIND),
            "observation_id": {
                "type": ["string", "null"],
                "default": None,
                "description": "Receipt to page: its id, with offset set to next_offset.",
            },
            "offset": integer("Code points into the scope to start at.", minimum=0, default=0),
            "max_chars": optional_integer(
                "Code points to return of a scope; null means 4000, more than 8000 means 8000.",
                minimum=1,
            ),
            "include_line_starts": boolean("Also return where lines begin in the page."),
            "selections": {
                "type": ["array", "null"],
                "minItems": 1,
                "maxItems": SELECTIONS,
                "items": {
                    "type": "object",
                    "properties": {
                        "symbol_name": string(_NAME, minimum_length=1),
                        "kind": _selector(_KIND),
                    },
                    "required": ["symbol_name"],
                    "additionalProperties": False,
                },
                "default": None,
                "description": f"1 to {SELECTIONS} disjoint scopes to observe as one bundle.",
            },
        },
        ("target_file_id",),
    ),
    read_only=False,
    idempotent=False,
    destructive=False,
    refusal_codes={
        "target_file_id": "invalid_target_id",
        "observation_id": "INVALID_OBSERVATION_ID",
    },
    # paging judges the form of a receipt's id, selections are judged one by one
    checked_arguments=frozenset(
        (
            "target_file_id",
            "query",
            "symbol_name",
            "kind",
            "observation_id",
            "offset",
            "max_chars",
            "include_line_starts",
        )
    ),
)

SUBMIT_OBSERVED_OPERATIONS: Final = Tool(
    name="patchdiff_submit_observed_operations",
    title="Submit observed operations",
    description=(
        "Apply matches and spans inside observed scopes, all of them or none. One scope: "
        "observation_id and operations; spans count code points of the whole text, matches are "
        "counted in it. A batch: observation_bundle_id, groups and client_request_id; in each "
        "group matches and spans count inside its own scope alone, after the group's earlier "
        "operations. Both expected_target_version and expected_current_hash are required. An "
        "insertion needs a place strictly inside the scope with expected_before and "
        "expected_after."
    ),
    input_schema=input_schema(
        {
            "target_file_id": target_id(),
            "intent": string("What the whole transaction is for, in a sentence.", minimum_length=1),
            "observation_id": _receipt_id("Receipt of the scope to edit in; not in a batch."),
            "operations": {
                "type": ["array", "null"],
                "minItems": 1,
                "items": OPERATION_JSON_SCHEMA,
                "default": None,
                "description": "Operations inside the scope, in order; not in a batch.",
            },
            "observation_bundle_id": _receipt_id("Bundle whose scopes a batch edits."),
            "groups": {
                "type": ["array", "null"],
                "minItems": 1,
                "maxItems": GROUPS,
                "items": {
                    "type": "object",
                    "properties": {
                        "observation_id": patterned(
                            TARGET_ID_PATTERN, "Receipt of the bundle, in one group only."
                        ),
                        "operations": {
                            "type": "array",
                            "minItems": 1,
                            "items": OPERATION_JSON_SCHEMA,
                            "description": "As operations, counted from the scope's start.",
                        },
                    },
                    "required": ["observation_id", "operations"],
                    "additionalProperties": False,
                },
                "default": None,
                "description": f"Groups of a batch, at most {BATCH_OPERATIONS} operations in all.",
            },
            "expected_target_version": optional_integer(
                "Guard: target_version of the receipt; required.", minimum=0
            ),
            "expected_current_hash": patterned(
                SHA256_PATTERN,
                "Guard: target_current_hash of the receipt; required.",
                nullable=True,
            ),
            **REQUEST_PROPERTIES,
        },
        ("target_file_id", "intent"),
    ),
    read_only=False,
    idempotent=False,
    destructive=True,
    refusal_codes={"include_correlation_id": "invalid_include_correlation_id"},
    checked_arguments=frozenset({"include_correlation_id"}),
)
