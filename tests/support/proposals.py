"""Proposals of all three transaction formats, and the rows that attempts leave in storage."""

from __future__ import annotations

import json
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from tests.support.documents import Caller, attempts, sha256, state

EDITS = "patchdiff_submit_edits"
OPERATIONS = "patchdiff_submit_operations"
REPLACEMENT = "patchdiff_submit_replacement"
TOOLS = (EDITS, OPERATIONS, REPLACEMENT)
PROTOCOLS = {EDITS: "patchdiff-tx/1", OPERATIONS: "patchdiff-tx/2", REPLACEMENT: "patchdiff-tx/3"}
FIELDS = {EDITS: "edits", OPERATIONS: "operations", REPLACEMENT: "replacement"}

Admin = psycopg.Connection[Any]


def span(start: object, end: object, expected_text: object, replace: object, **fields: Any) -> Any:
    """One span operation of patchdiff_submit_operations."""
    operation = {"op": "span", "start": start, "end": end, "expected_text": expected_text}
    return {**operation, "replace": replace, **fields}


def match(text: object, replace: object, **fields: Any) -> dict[str, Any]:
    """One match operation of patchdiff_submit_operations."""
    return {"op": "match", "match": text, "replace": replace, **fields}


def simple(tool: str, text: str, replace: str) -> Any:
    """The tool's proposal that makes ``replace`` of a target whose whole text is ``text``."""
    proposals = {
        EDITS: [{"match": text, "replace": replace}],
        OPERATIONS: [span(0, len(text), text, replace)],
        REPLACEMENT: replace,
    }
    return proposals[tool]


def propose(
    caller: Caller, tool: str, target_file_id: object, proposal: object, **arguments: Any
) -> dict[str, Any]:
    """Submit the tool's edits, operations or replacement with intent "t"; guarded by version 0
    when the call names no guard."""
    guarded = "expected_target_version" in arguments or "expected_current_hash" in arguments
    call = {
        "target_file_id": target_file_id,
        "intent": "t",
        FIELDS[tool]: proposal,
        **({} if guarded else {"expected_target_version": 0}),
        **arguments,
    }
    return caller.call(tool, **call)


def admitted(
    caller: Caller, tool: str, target_file_id: str, proposal: object, **arguments: Any
) -> dict[str, Any]:
    """Submit a proposal that must be accepted; returns the answer."""
    answer = propose(caller, tool, target_file_id, proposal, **arguments)
    assert answer["status"] == "accepted", answer
    return answer


def turned_down(
    caller: Caller,
    tool: str,
    target_file_id: str,
    proposal: object,
    reason: str,
    code: str | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Submit a proposal that must be rejected for this reason; returns the answer.

    after_hash is null, text, hash, version and ledger stay, and exactly one attempt is added, the
    named one.
    """
    before = state(caller, target_file_id)
    known = [entry["pdcp_log_id"] for entry in attempts(caller, target_file_id)]
    answer = propose(caller, tool, target_file_id, proposal, **arguments)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", reason), answer
    assert answer["after_hash"] is None
    if code is not None:
        assert answer["diagnostic"]["code"] == code, answer
    assert state(caller, target_file_id) == before
    rows = attempts(caller, target_file_id)
    assert [row["pdcp_log_id"] for row in rows] == [answer["pdcp_log_id"], *known]
    assert (rows[0]["status"], rows[0]["failure_reason"]) == ("rejected", reason)
    return answer


def rows(admin: Admin, target_file_id: str) -> list[dict[str, Any]]:
    """The target's rows of append_only_pdcp_logs as storage holds them, oldest first."""
    query = (
        "select to_jsonb(l) from patchdiff.append_only_pdcp_logs as l"
        " where l.target_file_id = %s order by l.log_sequence"
    )
    return [row[0] for row in admin.execute(query, [target_file_id])]


def row_of(admin: Admin, answer: dict[str, Any]) -> dict[str, Any]:
    """The stored row that the answer names."""
    [row] = [
        row
        for row in rows(admin, answer["target_file_id"])
        if row["pdcp_log_id"] == answer["pdcp_log_id"]
    ]
    return row


def record_older_diagnostic(admin: Admin, answer: dict[str, Any], diagnostic: object) -> None:
    """Give the answer's row another diagnostic by hand, as if an older version had written it."""
    table = "alter table patchdiff.append_only_pdcp_logs"
    with admin.transaction():
        admin.execute(f"{table} disable trigger append_only")
        admin.execute(
            "update patchdiff.append_only_pdcp_logs set diagnostic_json = %s"
            " where target_file_id = %s and pdcp_log_id = %s",
            [Jsonb(diagnostic), answer["target_file_id"], answer["pdcp_log_id"]],
        )
        admin.execute(f"{table} enable always trigger append_only")


def fingerprint(
    protocol: str,
    record_hash: str,
    version: object = None,
    digest: object = None,
    parent: object = None,
) -> str:
    """The request fingerprint of the contract, from its five members."""
    members = {
        "protocol_version": protocol,
        "pdcp_content_hash": record_hash,
        "expected_target_version": version,
        "expected_current_hash": digest,
        "parent_pdcp_log_id": parent,
    }
    return sha256(json.dumps(members, ensure_ascii=False, separators=(",", ":")))


def json_bytes(value: object) -> int:
    """The bytes of the value as compact ASCII-escaped JSON."""
    return len(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode())
