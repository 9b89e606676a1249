"""Previews, and previews held against the submission of the same proposal."""

from __future__ import annotations

from typing import Any

from tests.support.documents import Caller
from tests.support.proposals import FIELDS, PROTOCOLS, json_bytes, propose

SHARED = (
    "status", "failure_reason", "failure_detail", "failed_change_id", "diagnostic",
    "current_context", "near_misses", "validity", "current_version", "current_hash",
    "before_hash", "after_hash", "target_file_id",
)  # fmt: skip


def preview(
    caller: Caller, tool: str, target_file_id: object, proposal: object, **arguments: Any
) -> dict[str, Any]:
    """Preview what ``propose`` submits, and hold the answer to what every one must be."""
    guarded = "expected_target_version" in arguments or "expected_current_hash" in arguments
    call = {
        "target_file_id": target_file_id,
        "format": PROTOCOLS[tool],
        "intent": "t",
        FIELDS[tool]: proposal,
        **({} if guarded else {"expected_target_version": 0}),
        **arguments,
    }
    answer = caller.call("patchdiff_preview", **call)
    assert answer["preview"] is True
    assert answer["advisory"] is True
    assert json_bytes(answer) <= 32_768
    if answer["status"] != "invalid_argument":
        assert "pdcp_log_id" not in answer
        assert set(answer["validity"]) == {
            "protocol_valid", "transaction_valid", "task_correct", "semantic",
        }  # fmt: skip
        assert answer["before_version"] == answer["current_version"]
        assert answer["before_hash"] == answer["current_hash"]
    return answer


def rejected_alike(
    caller: Caller,
    tool: str,
    target_file_id: object,
    proposal: object,
    reason: str,
    **arguments: Any,
) -> dict[str, Any]:
    """Preview and submit a proposal: both reject it for the same reason, on the same evidence."""
    previewed = preview(caller, tool, target_file_id, proposal, **arguments)
    submitted = propose(caller, tool, target_file_id, proposal, **arguments)
    assert previewed["failure_reason"] == reason, previewed
    assert {name: previewed.get(name) for name in SHARED} == {
        name: submitted.get(name) for name in SHARED
    }
    assert previewed["status"] == "rejected"
    assert previewed["stage"] == submitted["diagnostic"]["validation_stage"]
    assert previewed["evidence_omissions"] == []
    assert "change_facts" not in previewed
    return previewed


def accepted_alike(
    caller: Caller, tool: str, target_file_id: str, proposal: object, **arguments: Any
) -> dict[str, Any]:
    """Preview and submit a proposal: both accept it, with the same hash, facts and warnings."""
    previewed = preview(caller, tool, target_file_id, proposal, **arguments)
    submitted = propose(caller, tool, target_file_id, proposal, **arguments)
    assert previewed["status"] == submitted["status"] == "accepted", (previewed, submitted)
    for name in (
        "after_hash", "warnings", "warning_details", "warning_count", "warnings_truncated",
        "validity", "before_hash",
    ):  # fmt: skip
        assert previewed[name] == submitted[name], name
    assert previewed["change_facts"] == submitted["evidence"]["changes"]
    assert previewed["stage"] == "transaction_applicability"
    assert previewed["before_version"] == submitted["version"] - 1
    return previewed
