"""Documents, proposals and random texts for the tests.

Whatever has a method `call(tool, **arguments) -> dict` serves as `caller`: a StdioClient, or a
ServiceCaller.
"""

from __future__ import annotations

import hashlib
import random
import re
from typing import Any, LiteralString, Protocol

import psycopg
from hypothesis import strategies as st
from psycopg import sql

UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
UUID_PATTERN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHA256_PATTERN = re.compile(r"[0-9a-f]{64}")

TABLES = (
    "cloud_target_files", "editing_cycles", "target_snapshots", "append_only_pdcp_logs",
    "manifest_ledger", "target_scope_observations", "target_scope_bundles", "workspace_files",
)  # fmt: skip

# What breaks careless counting: line ends of every kind, astral, combining, joining, jamo, marks.
AWKWARD = (
    "\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\t", "\ufeff", "\xa0",
    "\u200d", "\u0301", "e\u0301", "\xe9", "\u0915\u0903", "\U0001f600", "\U0001f1e9\U0001f1ea",
    "\u1112\u1161", "\u4e2d", "\U0010ffff", "%", "_", "\\", ".", "*", "$1", "a", "b", "A", " ",
)  # fmt: skip


class Caller(Protocol):
    """Anything that calls a tool by name and returns its payload."""

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call the tool."""


class ServiceCaller:
    """Gives a patchdiff.Service the `call` of a StdioClient."""

    def __init__(self, service: Any) -> None:
        self.service = service

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call the service's method of the tool's name."""
        answer = getattr(self.service, tool.removeprefix("patchdiff_"))(**arguments)
        assert isinstance(answer, dict)
        return answer


def sha256(text: str) -> str:
    """Lowercase hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def document(caller: Caller, content: str = "", **arguments: Any) -> dict[str, Any]:
    """Initialize a target with this content and return the answer."""
    answer = caller.call(
        "patchdiff_initialize_target", **{"filename": "t.txt", "content": content, **arguments}
    )
    assert answer["status"] == "ok", answer
    return answer


def content_of(caller: Caller, target_file_id: str) -> str:
    """The target's whole current text."""
    content = caller.call("patchdiff_get_target", target_file_id=target_file_id)["current_content"]
    assert isinstance(content, str)
    return content


def change(match: str, replace: str, **fields: Any) -> dict[str, Any]:
    """One edit of patchdiff_submit_edits."""
    return {"match": match, "replace": replace, **fields}


def submit(caller: Caller, target_file_id: object, *edits: Any, **arguments: Any) -> dict[str, Any]:
    """Submit edits with intent "t"; guarded by version 0 when the call names no guard of its
    own."""
    guarded = "expected_target_version" in arguments or "expected_current_hash" in arguments
    guard = {} if guarded else {"expected_target_version": 0}
    call = {
        "target_file_id": target_file_id,
        "intent": "t",
        "edits": list(edits),
        **guard,
        **arguments,
    }
    return caller.call("patchdiff_submit_edits", **call)


def accepted(caller: Caller, target_file_id: str, *edits: Any, **arguments: Any) -> dict[str, Any]:
    """Submit edits that must be accepted; returns the answer."""
    answer = submit(caller, target_file_id, *edits, **arguments)
    assert answer["status"] == "accepted", answer
    return answer


def attempts(caller: Caller, target_file_id: str, **filters: Any) -> list[dict[str, Any]]:
    """The target's newest attempts, at most 200, newest first."""
    page = caller.call(
        "patchdiff_get_pdcp_log", target_file_id=target_file_id, **{"limit": 200, **filters}
    )
    entries = page["entries"]
    assert isinstance(entries, list)
    return entries


def ledger(caller: Caller, target_file_id: str, **filters: Any) -> list[dict[str, Any]]:
    """The target's newest ledger entries of the active cycle, at most 200, oldest first."""
    page = caller.call(
        "patchdiff_get_manifest_ledger", target_file_id=target_file_id, **{"limit": 200, **filters}
    )
    entries = page["entries"]
    assert isinstance(entries, list)
    return entries


def state(caller: Caller, target_file_id: str) -> tuple[object, ...]:
    """What a rejection must not change: text, hash, version and the ledger."""
    target = caller.call("patchdiff_get_target", target_file_id=target_file_id)
    return (
        target["current_content"],
        target["current_hash"],
        target["version"],
        target["active_editing_cycle_id"],
        [entry["ledger_sequence"] for entry in ledger(caller, target_file_id)],
    )


def rejected(
    caller: Caller,
    target_file_id: str,
    *edits: Any,
    reason: str,
    code: str | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Submit edits that must be rejected for this reason, and hold the rejection to what every one
    must be.

    after_hash is null, text, hash, version and ledger stay, and exactly one attempt is added, the
    named one.
    """
    before = state(caller, target_file_id)
    known = [entry["pdcp_log_id"] for entry in attempts(caller, target_file_id)]
    answer = submit(caller, target_file_id, *edits, **arguments)
    assert (answer["status"], answer["failure_reason"]) == ("rejected", reason), answer
    assert answer["after_hash"] is None
    if code is not None:
        assert answer["diagnostic"]["code"] == code, answer
    assert state(caller, target_file_id) == before
    rows = attempts(caller, target_file_id)
    assert [row["pdcp_log_id"] for row in rows] == [answer["pdcp_log_id"], *known]
    assert (rows[0]["status"], rows[0]["failure_reason"]) == ("rejected", reason)
    return answer


def keys(payload: dict[str, Any]) -> set[str]:
    """The payload's field names."""
    return set(payload)


def stored(admin: psycopg.Connection[Any], target_file_id: str, *columns: LiteralString) -> Any:
    """These columns of the target's own row, as they are in storage."""
    names = sql.SQL(", ").join(map(sql.SQL, columns))
    query = sql.SQL("select {} from patchdiff.cloud_target_files where target_file_id = %s")
    return admin.execute(query.format(names), [target_file_id]).fetchone()


def overwrite(admin: psycopg.Connection[Any], target_file_id: str, **columns: object) -> None:
    """Change columns of the target's own row by hand, past everything that guards them."""
    changes = sql.SQL(", ").join(
        sql.SQL("{} = %s").format(sql.Identifier(name)) for name in columns
    )
    query = sql.SQL("update patchdiff.cloud_target_files set {} where target_file_id = %s")
    admin.execute(query.format(changes), [*columns.values(), target_file_id])


def row_counts(admin: psycopg.Connection[Any], target_file_id: str | None = None) -> dict[str, int]:
    """How many rows each table of targets has, or has of this target."""
    query = sql.SQL("select count(*) from {} where %s::uuid is null or target_file_id = %s")
    counts = {}
    for table in TABLES:
        row = admin.execute(
            query.format(sql.Identifier("patchdiff", table)), [target_file_id, target_file_id]
        ).fetchone()
        assert row is not None
        counts[table] = row[0]
    return counts


def canonical(text: str) -> str:
    """The text with every CRLF pair and every lone CR as one LF."""
    return re.sub("\r\n?", "\n", text)


def random_text(generator: random.Random, pieces: int) -> str:
    """A text of this many awkward pieces, the same for the same generator state."""
    return "".join(generator.choice(AWKWARD) for _ in range(pieces))


def texts(max_size: int = 60) -> st.SearchStrategy[str]:
    """Texts that PostgreSQL can hold, rich in awkward characters; at most max_size pieces."""
    anything = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
    return st.lists(st.one_of(st.sampled_from(AWKWARD), anything), max_size=max_size).map("".join)
