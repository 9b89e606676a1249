"""Replay: a target's text built anew from its initial snapshot and every accepted record.

Each record is evaluated as it was when it was accepted, by the runtime that its row names; nothing
that was stored about its outcome is used but to be compared. `patchdiff.replay_spans` does the same
in SQL from the recorded places (contract, "patchdiff_replay").
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from patchdiff.batch import apply_batch
from patchdiff.database import ReplayInput
from patchdiff.decoding import MalformedProposalError
from patchdiff.evaluation import NotApplicableError, apply, fact
from patchdiff.observed import grouped
from patchdiff.proposals import DECODERS
from patchdiff.records import (
    FIELDS,
    OBSERVED_BATCH,
    OBSERVED_BATCH_RUNTIME,
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
from patchdiff.scope import Scope
from patchdiff.text import canonical, sha256_hex

JsonObject = dict[str, Any]

RUNTIMES: Final = frozenset(
    {
        (TYPED_EDITS, TYPED_RUNTIME),
        (OPERATIONS, SPAN_RUNTIME),
        (OPERATIONS, SPAN_CONTEXT_RUNTIME),
        (REPLACEMENT, REPLACEMENT_RUNTIME),
        (OBSERVED_BATCH, OBSERVED_BATCH_RUNTIME),
    }
)
"""The pairs of protocol and runtime that a replay can judge."""

RECORD_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    **{protocol: (name,) for protocol, name in FIELDS.items()},
    OBSERVED_BATCH: ("observation_bundle_id", "groups"),
}
"""Which fields, beside protocol and intent, the record of each protocol has."""


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
            if state.version != 0:
                raise ReplayFailure(
                    "snapshot_altered", "The snapshot is not of the version that the log recorded."
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
    changes, content = _decode(attempt, record)
    receipts = _receipts(state, attempt, content)
    try:
        if attempt["protocol_version"] == OBSERVED_BATCH:
            sizes = [len(group["operations"]) for group in content["groups"]]
            text, applied = apply_batch(state.text, grouped(changes, sizes, receipts))
        else:
            scope = (
                Scope(receipts[0]["scope_start"], receipts[0]["scope_end"]) if receipts else None
            )
            text, applied = apply(state.text, changes, scope=scope)
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


def _decode(attempt: JsonObject, record: str) -> tuple[list[Change], JsonObject]:
    """The changes of a stored record, as the runtime that its row names reads it, and the record
    itself."""
    protocol, runtime = attempt["protocol_version"], attempt["runtime_version"]
    if (protocol, runtime) not in RUNTIMES:
        raise _unsupported()
    try:
        content = json.loads(record)
    except (ValueError, RecursionError):
        _no_transaction()
    fields = ("intent", *RECORD_FIELDS[protocol])
    if (
        not isinstance(content, dict)
        or content.get("protocol") != protocol
        or set(content) != {"protocol", *fields}
    ):
        _no_transaction()
    if runtime == SPAN_RUNTIME and runtime_version(protocol, content) != runtime:
        raise _unsupported()
    try:
        return DECODERS[protocol](*(content[name] for name in fields)), content
    except MalformedProposalError:
        _no_transaction()


def _receipts(state: _Replayed, attempt: JsonObject, record: JsonObject) -> list[JsonObject]:
    """The receipts that an attempt names, in its order; none for one that was not observed.

    Exactly these must name it as the attempt that used them, and be of the state and the scopes
    that it was made on. The engine is not asked.
    """
    batch = attempt["protocol_version"] == OBSERVED_BATCH
    named = [attempt["observation_id"]] if attempt["observation_id"] is not None else []
    bundle_id = None
    if batch:
        named = [group["observation_id"] for group in record["groups"]]
        bundle_id = record["observation_bundle_id"]
    linked = {receipt["observation_id"]: receipt for receipt in attempt["receipts"]}
    if sorted(linked) != sorted(named) or (batch and attempt["observation_id"] is not None):
        raise ReplayFailure(
            "receipt_missing", "The receipts that name the attempt are not those that it names."
        )
    of_attempt = {
        "editing_cycle_id": attempt["editing_cycle_id"],
        "target_version": state.version,
        "target_current_hash": state.text_hash,
    }
    of_receipts = {**of_attempt, "consumption": "batch" if batch else "single"}
    if batch:
        of_receipts["observation_bundle_id"] = bundle_id
        of_bundle = {**of_attempt, "observation_bundle_id": bundle_id}
        bundle = attempt["bundle"] or {}
        _check_evidence(bundle, of_bundle)
        of_receipts |= {name: bundle[name] for name in ("engine", "language")}
    for receipt in linked.values():
        start, end = receipt["scope_start"], receipt["scope_end"]
        scope_hash = sha256_hex(state.text[start:end])
        _check_evidence(receipt, {**of_receipts, "observed_scope_hash": scope_hash})
        if end > len(state.text):
            _check_evidence(receipt, {"scope_end": len(state.text)})
    return [linked[name] for name in named]


def _check_evidence(found: JsonObject, expected: JsonObject) -> None:
    if any(found.get(name) != value for name, value in expected.items()):
        raise ReplayFailure(
            "receipt_altered",
            "A receipt of the attempt is not of the state or the scope that it was issued on.",
        )


def _unsupported() -> ReplayFailure:
    return ReplayFailure(
        "unsupported_runtime",
        "No runtime of this version replays the record under its recorded protocol and runtime.",
    )


def _no_transaction() -> NoReturn:
    raise ReplayFailure(
        "record_altered", "The record is no transaction of its recorded protocol."
    ) from None
