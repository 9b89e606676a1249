"""Replay: a target's text built anew from its initial snapshot and every accepted record.

Each record is evaluated as it was when it was accepted, by the runtime that its row names; nothing
that was stored about its outcome is used but to be compared. `patchdiff.replay_spans` does the same
in SQL from the recorded places (contract, "patchdiff_replay").
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from patchdiff.database import ReplayInput
from patchdiff.decoding import MalformedProposalError
from patchdiff.evaluation import NotApplicableError, apply, fact
from patchdiff.proposals import DECODERS
from patchdiff.records import (
    FIELDS,
    OPERATIONS,
    REPLACEMENT,
    REPLACEMENT_RUNTIME,
    SPAN_CONTEXT_RUNTIME,
    SPAN_RUNTIME,
    TYPED_EDITS,
    TYPED_RUNTIME,
    Change,
    runtime_version,
)
from patchdiff.text import canonical, sha256_hex

JsonObject = dict[str, Any]

RUNTIMES: Final = frozenset(
    {
        (TYPED_EDITS, TYPED_RUNTIME),
        (OPERATIONS, SPAN_RUNTIME),
        (OPERATIONS, SPAN_CONTEXT_RUNTIME),
        (REPLACEMENT, REPLACEMENT_RUNTIME),
    }
)
"""The pairs of protocol and runtime that a replay can judge."""


@dataclass(eq=False)
class ReplayFailure(Exception):
    """Missing or altered evidence: a stable code, a sentence, and the attempt at fault if any."""

    code: str
    detail: str
    attempt: JsonObject = field(default_factory=dict)


def replay(target_file_id: str, inputs: Iterable[ReplayInput]) -> JsonObject:
    """Replays what ``patchdiff.replay_inputs`` gave and returns the tool's answer.

    The status is success, even when what is stored differs from the reconstruction; failed for
    missing or altered evidence; or that of the refusal of the id.
    """
    rows = iter(inputs)
    target = next(rows)
    if target.part == "refusal":
        return target.facts
    try:
        replayed = _replay(target.facts, rows)
    except ReplayFailure as failure:
        return {
            "status": "failed",
            "target_file_id": target_file_id,
            "failure_reason": "replay_protocol_invalid",
            "code": failure.code,
            "failure_detail": failure.detail,
            "log_sequence": failure.attempt.get("log_sequence"),
            "pdcp_log_id": failure.attempt.get("pdcp_log_id"),
        }
    stored = target.body or ""
    checks = {
        "content_matches": stored == replayed.text,
        "stored_hash_matches": target.facts["current_hash"] == replayed.text_hash,
        "recomputed_hash_matches": sha256_hex(canonical(stored)) == replayed.text_hash,
        "version_matches": target.facts["version"] == replayed.version,
    }
    return {
        "status": "success",
        "target_file_id": target_file_id,
        "reconstructed_hash": replayed.text_hash,
        "current_hash": target.facts["current_hash"],
        "reconstructed_version": replayed.version,
        "current_version": target.facts["version"],
        "accepted_transactions_replayed": replayed.transactions,
        "materialized_state_matches": all(checks.values()),
        "materialized_state_checks": checks,
    }


@dataclass(slots=True)
class _Replayed:
    text: str
    text_hash: str
    version: int
    transactions: int = 0


def _replay(target: JsonObject, rows: Iterable[ReplayInput]) -> _Replayed:
    state: _Replayed | None = None
    for row in rows:
        if row.part == "snapshot":
            state = _Replayed(row.body or "", row.facts["content_hash"], row.facts["version"])
            if sha256_hex(state.text) != state.text_hash:
                raise ReplayFailure(
                    "snapshot_altered", "The snapshot does not have its recorded hash."
                )
        elif state is None:
            break
        else:
            try:
                _replay_attempt(state, row.facts, row.body or "")
            except ReplayFailure as failure:
                failure.attempt = row.facts
                raise
    if state is None:
        raise ReplayFailure("snapshot_missing", "The snapshot to start from is missing.")
    if target["missing_attempt"] is not None:
        raise ReplayFailure(
            "record_missing",
            "An attempt is missing from the log, or was put there by hand.",
            {"log_sequence": target["missing_attempt"]},
        )
    return state


def _replay_attempt(state: _Replayed, attempt: JsonObject, record: str) -> None:
    """Takes ``state`` through one accepted attempt."""
    if (attempt["before_version"], attempt["after_version"], attempt["before_hash"]) != (
        state.version,
        state.version + 1,
        state.text_hash,
    ):
        raise ReplayFailure(
            "record_missing",
            f"The attempt does not follow from version {state.version}, which was reached before"
            " it.",
        )
    if sha256_hex(record) != attempt["pdcp_content_hash"]:
        raise ReplayFailure("record_altered", "The record does not have its recorded hash.")
    changes = _decode(attempt["protocol_version"], attempt["runtime_version"], record)
    try:
        text, applied = apply(state.text, changes)
    except NotApplicableError as problem:
        raise ReplayFailure(
            "record_not_applicable",
            f"The record does not apply: {problem.reason}, change {problem.change.change_id}.",
        ) from None
    if [fact(change) for change in applied] != attempt["changes"]:
        raise ReplayFailure(
            "ledger_altered", "The ledger's facts are not those of the record's changes."
        )
    if sha256_hex(text) != attempt["after_hash"]:
        raise ReplayFailure("result_differs", "The changes do not lead to the recorded hash.")
    state.text = text
    state.text_hash = attempt["after_hash"]
    state.version = attempt["after_version"]
    state.transactions += 1


def _decode(protocol: str, runtime: str, record: str) -> list[Change]:
    """The changes of a stored record, as the runtime that its row names reads it."""
    if (protocol, runtime) not in RUNTIMES:
        raise _unsupported()
    try:
        content = json.loads(record)
    except (ValueError, RecursionError):
        _no_transaction()
    fields = ("intent", FIELDS[protocol])
    if (
        not isinstance(content, dict)
        or content.get("protocol") != protocol
        or set(content) != {"protocol", *fields}
    ):
        _no_transaction()
    if runtime == SPAN_RUNTIME and runtime_version(protocol, content) != runtime:
        raise _unsupported()
    try:
        return DECODERS[protocol](*(content[name] for name in fields))
    except MalformedProposalError:
        _no_transaction()


def _unsupported() -> ReplayFailure:
    return ReplayFailure(
        "unsupported_runtime",
        "No runtime of this version replays the record under its recorded protocol and runtime.",
    )


def _no_transaction() -> NoReturn:
    raise ReplayFailure(
        "record_altered", "The record is no transaction of its recorded protocol."
    ) from None
