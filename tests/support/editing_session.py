"""One whole editing session, for every client and every revision of the protocol."""

from __future__ import annotations

from typing import Any

from tests.support.steps import Step

# line ends, astral and separator characters that a careless transport breaks
CONTENT = (
    "# Guide \U0001f600\n\n## Install (Linux)\n\nRun setup.\u2028Then check.\n\n## Use\n\n"
    "Run start. Run stop. Caf\u00e9.\n"
)
FINAL = (
    "# Guide \U0001f600\n\n## Install (Linux)\n\nDo setup.\u2028Then check it all.\n\n## Use\n\n"
    "Do start. Run halt. Cafe\u0301.\n"
)

_INITIALIZE = "patchdiff_initialize_target"
_TARGET = {"target_file_id": "{1.target_file_id}"}
_EDITS: dict[str, Any] = {
    **_TARGET,
    "intent": "Another word",
    "edits": [{"match": "Run stop.", "replace": "Run halt."}],
    "expected_target_version": 0,
    "client_request_id": "session-1",
    "parent_pdcp_log_id": "{4.pdcp_log_id}",
}

STEPS: list[Step] = [
    {
        "tool": _INITIALIZE,
        "arguments": {"filename": "guide.md", "content": CONTENT, "content_type": "text/markdown"},
        "answer": {"status": "ok", "version": 0},
    },
    {
        "tool": "patchdiff_read_lines",
        "arguments": {**_TARGET, "start_line": 5, "end_line": 5},
        "answer": {"text": "Run setup.\u2028Then check.\n", "total_lines": 10},
    },
    {
        "tool": "patchdiff_find_occurrences",
        "arguments": {**_TARGET, "text": "Run "},
        "answer": {"occurrence_count": 3},
    },
    {
        "tool": "patchdiff_submit_edits",
        "arguments": {
            **_TARGET,
            "intent": "Another word",
            "edits": [{"match": "Run stop!", "replace": "Run halt."}],
            "expected_target_version": 0,
        },
        "answer": {
            "status": "rejected",
            "failure_reason": "match_absent",
            "near_misses": {"candidates": [{"text": "Run stop", "distance": 1}]},
        },
    },
    {
        "tool": "patchdiff_submit_edits",
        "arguments": _EDITS,
        "answer": {"status": "accepted", "version": 1, "deduplicated": False},
    },
    {
        "tool": "patchdiff_submit_edits",
        "arguments": _EDITS,
        "answer": {
            "status": "accepted",
            "deduplicated": True,
            "pdcp_log_id": "{5.pdcp_log_id}",
        },
    },
    {
        "tool": "patchdiff_preview",
        "arguments": {
            **_TARGET,
            "format": "patchdiff-tx/2",
            "intent": "See",
            "operations": [{"op": "match", "match": "Run ", "replace": "Do "}],
            "expected_target_version": 1,
        },
        "answer": {"status": "rejected", "failure_reason": "match_ambiguous"},
    },
    {
        "tool": "patchdiff_submit_operations",
        "arguments": {
            **_TARGET,
            "intent": "Decompose",
            "operations": [
                {
                    "op": "span",
                    "start": CONTENT.index("\u00e9"),
                    "end": CONTENT.index("\u00e9") + 1,
                    "expected_text": "\u00e9",
                    "replace": "e\u0301",
                }
            ],
            "expected_target_version": 1,
            "expected_current_hash": "{5.current_hash}",
        },
        "answer": {"status": "accepted", "version": 2},
    },
    {
        "tool": "patchdiff_observe_scope",
        "arguments": {**_TARGET, "query": "INSTALL"},
        "answer": {"status": "candidates", "candidates": [{"name": "Install (Linux)"}]},
    },
    {
        "tool": "patchdiff_observe_scope",
        "arguments": {**_TARGET, "symbol_name": "Install (Linux)"},
        "answer": {
            "status": "observed",
            "text": "## Install (Linux)\n\nRun setup.\u2028Then check.",
        },
    },
    {
        "tool": "patchdiff_submit_observed_operations",
        "arguments": {
            **_TARGET,
            "intent": "Say what",
            "observation_id": "{10.observation_id}",
            "operations": [{"op": "match", "match": "check.", "replace": "check it all."}],
            "expected_target_version": "{10.target_version}",
            "expected_current_hash": "{10.target_current_hash}",
        },
        "answer": {"status": "accepted", "version": 3},
    },
    {
        "tool": "patchdiff_observe_scope",
        "arguments": {
            **_TARGET,
            "selections": [{"symbol_name": "Install (Linux)"}, {"symbol_name": "Use"}],
        },
        "answer": {"status": "observed_batch"},
    },
    {
        "tool": "patchdiff_submit_observed_operations",
        "arguments": {
            **_TARGET,
            "intent": "Shorter",
            "observation_bundle_id": "{12.observation_bundle_id}",
            "groups": [
                {
                    "observation_id": "{12.scopes.0.observation_id}",
                    "operations": [{"op": "match", "match": "Run ", "replace": "Do "}],
                },
                {
                    "observation_id": "{12.scopes.1.observation_id}",
                    "operations": [
                        {"op": "match", "match": "Run ", "replace": "Do ", "occurrence_index": 1}
                    ],
                },
            ],
            "expected_target_version": "{12.target_version}",
            "expected_current_hash": "{12.target_current_hash}",
            "client_request_id": "session-2",
        },
        "answer": {"status": "accepted", "before_version": 3, "after_version": 4},
    },
    {
        "tool": "patchdiff_get_target",
        "arguments": _TARGET,
        "answer": {"current_content": FINAL, "version": 4},
    },
    {
        "tool": "patchdiff_save",
        "arguments": {**_TARGET, "expected_target_version": 4},
        "answer": {"status": "saved", "version": 4},
    },
    {
        "tool": "patchdiff_replay",
        "arguments": _TARGET,
        "answer": {
            "status": "success",
            "materialized_state_matches": True,
            "accepted_transactions_replayed": 4,
        },
    },
    {
        "tool": "patchdiff_get_pdcp_log",
        "arguments": {**_TARGET, "status": "rejected"},
        "answer": {"entries": [{"pdcp_log_id": "{4.pdcp_log_id}"}], "has_more": False},
    },
    {
        "tool": "patchdiff_get_manifest_ledger",
        "arguments": {**_TARGET, "include_previous_cycles": True},
        "answer": {"entries": [{"after_version": number} for number in (1, 2, 3, 4, 4)]},
    },
    {
        "tool": "patchdiff_export_target",
        "arguments": {**_TARGET, "format": "crlf"},
        "answer": {"content": FINAL.replace("\n", "\r\n"), "content_eol": "crlf"},
    },
    {
        "tool": "patchdiff_get_target",
        "arguments": {"target": "x"},
        "answer": {
            "status": "invalid_argument",
            "code": "unknown_argument",
            "unknown_arguments": ["target"],
            "missing_arguments": ["target_file_id"],
        },
    },
]
ERRORS = [False] * 19 + [True]
"""isError of each answer."""
