"""Calling the submission functions of SQL, and comparing their outcome with the tools'."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from tests.support.documents import Caller, state
from tests.support.proposals import rows

Connection = psycopg.Connection[Any]

ADAPTER_ONLY = {
    "current_context",
    "near_misses",
    "warnings",
    "warning_details",
    "warning_count",
    "warnings_truncated",
}
"""Fields of an answer that the adapter fills and SQL leaves out or empty."""

OWN_COLUMNS = {
    "target_file_id",
    "log_sequence",
    "pdcp_log_id",
    "editing_cycle_id",
    "created_at",
    "previous_row_hash",
    "row_hash",
    "failure_detail",
    "diagnostic_json",
    "parent_pdcp_log_id",
}
"""Columns in which the rows of two targets differ, or whose wording or evidence is each route's."""


def submit_sql(connection: Connection, function: str, **arguments: Any) -> dict[str, Any]:
    """Call the SQL function by named notation, guarded by version 0 unless a guard is named."""
    if not {"expected_target_version", "expected_current_hash"} & set(arguments):
        arguments["expected_target_version"] = 0
    values = {"intent": "t", **arguments}
    if "spans" in values:
        values["spans"] = Jsonb(values["spans"])
    named = ", ".join(f"{name} => %({name})s" for name in values)
    query = f"select patchdiff.{function}({named})"
    row = connection.execute(query.encode(), values).fetchone()
    assert row is not None
    answer = row[0]
    assert isinstance(answer, dict)
    return answer


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """What both routes must answer alike for equal documents."""
    left_out = ADAPTER_ONLY | {"target_file_id", "pdcp_log_id"}
    kept = {name: value for name, value in answer.items() if name not in left_out}
    if "diagnostic" in kept:
        stated = kept["diagnostic"].items()
        kept["diagnostic"] = {name: value for name, value in stated if name != "failure_context"}
        if kept["failure_reason"] == "protocol_invalid":
            del kept["failure_detail"]
    return kept


def assert_same_outcome(
    admin: Connection,
    caller: Caller,
    by_tool: dict[str, Any],
    by_sql: dict[str, Any],
) -> None:
    """Equal answers, equal rows and equal targets, whichever route was taken."""
    assert comparable(by_sql) == comparable(by_tool)
    ours, theirs = (
        [
            {name: value for name, value in row.items() if name not in OWN_COLUMNS}
            for row in rows(admin, answer["target_file_id"])
        ]
        for answer in (by_sql, by_tool)
    )
    assert ours == theirs
    assert (
        state(caller, by_sql["target_file_id"])[:3] == state(caller, by_tool["target_file_id"])[:3]
    )
