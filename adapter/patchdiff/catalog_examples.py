"""Examples of calls, which stand in the tools' input schemas (contract section "Discovery,
argument errors and examples").

They all speak of one small document, so that each can be followed from its text. Ids and cursors
are illustrative: a host puts in those that it was given.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from patchdiff.catalog_tool import Tool

CONTENT: Final = (
    "# Guide\n\n## Install (Linux)\n\nRun setup.\nThen check.\n\n## Use\n\nRun start. Run stop.\n"
)
"""The document that the examples speak of; it has 82 code points."""

TARGET: Final = "7d1f4a52-3c0e-4b8a-9f26-5e0c1a7b9d31"
OBSERVATION: Final = "b02c9e74-61d8-4f3b-8a15-0d97c4e6f218"
OTHER_OBSERVATION: Final = "c58e1d07-2f4a-4c96-b3e0-7a19d5f8042b"
BUNDLE: Final = "e94b7a30-85c1-4d2f-a6f7-13c0b8d9e564"

_TARGET: Final = {"target_file_id": TARGET}
_GUARD: Final = {"expected_target_version": 0}
_GUARDS: Final = {
    **_GUARD,
    "expected_current_hash": hashlib.sha256(CONTENT.encode("ascii")).hexdigest(),
}
_CHECK: Final = {"match": "Then check.", "replace": "Then check the version."}
_EDIT: Final = {"match": "Run stop.", "replace": "Run stop twice.", "anchor_before": "## Use"}

EXAMPLES: Final[Mapping[str, tuple[Mapping[str, Any], ...]]] = {
    "patchdiff_initialize_target": (
        {"filename": "guide.md", "content": CONTENT, "content_type": "text/markdown"},
    ),
    "patchdiff_read_lines": (
        {**_TARGET, "start_line": 3, "end_line": 6, "include_line_starts": True},
    ),
    "patchdiff_find_occurrences": ({**_TARGET, "text": "Run s", "context_chars": 20},),
    "patchdiff_submit_edits": (
        {
            **_TARGET,
            "intent": "Say what to check and how to stop",
            "edits": [{**_CHECK, "rationale": "Readers asked what to check."}, _EDIT],
            **_GUARD,
            "client_request_id": "guide-edit-1",
        },
    ),
    "patchdiff_submit_operations": (
        {
            **_TARGET,
            "intent": "Name the program",
            "operations": [
                {
                    "op": "span",
                    "start": 72,
                    "end": 76,
                    "expected_text": "Run ",
                    "replace": "Run guide ",
                },
                {
                    "op": "span",
                    "start": 44,
                    "end": 44,
                    "expected_text": "",
                    "replace": " first",
                    "expected_before": "Then",
                    "expected_after": " check",
                },
                {"op": "match", "match": "Run setup.", "replace": "Run guide setup."},
            ],
            **_GUARD,
            "client_request_id": "guide-operations-1",
        },
    ),
    "patchdiff_submit_replacement": (
        {
            **_TARGET,
            "intent": "Begin anew",
            "replacement": "# Guide\n\nTo be written.\n",
            **_GUARDS,
        },
    ),
    "patchdiff_preview": (
        {
            **_TARGET,
            "format": "patchdiff-tx/1",
            "intent": "See whether one occurrence is meant",
            "edits": [{"match": "Run ", "replace": "Type ", "occurrence_index": 2}],
            **_GUARD,
        },
    ),
    "patchdiff_observe_scope": (
        {**_TARGET, "query": "install", "kind": "section"},
        {**_TARGET, "symbol_name": "Install (Linux)", "kind": "section"},
        {
            **_TARGET,
            "selections": [
                {"symbol_name": "Install (Linux)", "kind": "section"},
                {"symbol_name": "Guide.Use"},
            ],
        },
        {**_TARGET, "observation_id": OBSERVATION, "offset": 4000, "max_chars": 8000},
    ),
    "patchdiff_submit_observed_operations": (
        {
            **_TARGET,
            "intent": "Say what to check",
            "observation_id": OBSERVATION,
            "operations": [{"op": "match", **_CHECK}],
            **_GUARDS,
            "client_request_id": "guide-observed-1",
        },
        {
            **_TARGET,
            "intent": "Mend two sections at once",
            "observation_bundle_id": BUNDLE,
            "groups": [
                {
                    "observation_id": OBSERVATION,
                    "operations": [
                        {
                            "op": "match",
                            "match": "setup.\nThen check.",
                            "replace": "setup, then check.",
                        }
                    ],
                },
                {
                    "observation_id": OTHER_OBSERVATION,
                    "operations": [
                        {
                            "op": "match",
                            "match": "Run ",
                            "replace": "Type ",
                            "occurrence_index": 2,
                        }
                    ],
                },
            ],
            **_GUARDS,
            "client_request_id": "guide-batch-1",
        },
    ),
}
"""The arguments of each example, by the name of its tool."""


def with_examples(tool: Tool) -> Tool:
    """`tool` with its examples in its input schema; unchanged when it has none."""
    examples = EXAMPLES.get(tool.name)
    if examples is None:
        return tool
    return replace(tool, input_schema={**tool.input_schema, "examples": list(examples)})
