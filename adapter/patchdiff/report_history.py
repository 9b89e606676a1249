"""What the report shows, read in one go: a target, its attempts and changes, its integrity."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg

from patchdiff import database
from patchdiff.history import Change, Rewriting, attempts, known, text_at

JsonObject = dict[str, Any]

MAXIMUM_CHANGES: Final = 50
"""Changes of one attempt that are shown; the others are counted."""

MAXIMUM_ROWS: Final = 20_000
"""Rows of all diffs together; beyond them the oldest attempts are shown without theirs."""

_REWRITTEN_CODE_POINTS: Final = 4_000_000_000


@dataclass
class Attempt:
    """One attempt: its entry as list_attempts answers it, and what it changed if accepted."""

    entry: JsonObject
    changes: Sequence[Change] = ()
    change_count: int = 0
    without_diffs: bool = False
    """True where the bound on all rows left out the diffs."""

    failure: str | None = None
    """Why texts of changes are not known, as a sentence."""

    rows: int = field(default=0, repr=False)


@dataclass(frozen=True)
class History:
    """Everything that a report shows; attempts are oldest first."""

    target: JsonObject
    attempts: Sequence[Attempt]
    older_attempts: bool
    verification: JsonObject
    chain: JsonObject


def read_history(connection: psycopg.Connection[Any], target_file_id: str, limit: int) -> History:
    """Read the newest `limit` attempts and the rest. The connection is in a transaction that sees
    one moment. Raises UnknownSubjectError for a target that is none."""
    target = known(
        database.call_tool_function(connection, "get_target", {"target_file_id": target_file_id})
    )
    entries, following = attempts(connection, target_file_id, limit)
    shown = [Attempt(entry) for entry in reversed(entries)]
    _read_changes(connection, target_file_id, shown)
    return History(
        target,
        shown,
        following is not None,
        known(database.verify_target(connection, target_file_id)),
        known(database.verify_chain(connection, target_file_id)),
    )


def _read_changes(
    connection: psycopg.Connection[Any], target_file_id: str, shown: Sequence[Attempt]
) -> None:
    accepted = [attempt for attempt in shown if attempt.entry["status"] == "accepted"]
    if not accepted:
        return
    text = text_at(connection, target_file_id, accepted[0].entry["before_version"])
    rewriting = Rewriting(text)
    work = _REWRITTEN_CODE_POINTS
    with_diffs: deque[Attempt] = deque()
    rows = 0
    for attempt in accepted:
        answer = database.get_attempt(
            connection,
            target_file_id=target_file_id,
            pdcp_log_id=attempt.entry["pdcp_log_id"],
            include_replaced_text=False,
        )
        attempt.change_count = len(answer["changes"])
        attempt.failure = answer["changes_failure"]
        work -= len(rewriting.text or "") * attempt.change_count
        if work < 0:
            rewriting.text = None
        attempt.changes = rewriting.apply(answer, MAXIMUM_CHANGES)
        attempt.rows = sum(len(c.diff.rows) for c in attempt.changes if c.diff is not None)
        rows += attempt.rows
        with_diffs.append(attempt)
        while rows > MAXIMUM_ROWS:
            oldest = with_diffs.popleft()
            rows -= oldest.rows
            oldest.changes = ()
            oldest.without_diffs = True
