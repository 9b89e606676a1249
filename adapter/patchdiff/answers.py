"""The answers of the submission tools, field by field (contract, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from patchdiff import evidence, near_misses
from patchdiff.evidence import Observed

JsonObject = dict[str, Any]

ECHOED_CODE_POINTS = 1_024

FACT_FIELDS = (
    "change_id",
    "change_index",
    "operation",
    "span_start",
    "span_end",
    "matched_chars",
    "replacement_chars",
    "matched_sha256",
    "replacement_sha256",
)

OBSERVATION_FIELDS = (
    "observation_id",
    "before_version",
    "after_version",
    "observation_bundle_id",
    "group_count",
    "change_count",
    "groups",
)

RETRYABLE_REASONS = frozenset(
    (
        "match_absent",
        "match_ambiguous",
        "disambiguation_invalid",
        "sequential_match_invalid",
        "span_out_of_bounds",
        "span_expected_text_mismatch",
        "target_hash_mismatch",
        "target_version_mismatch",
        "target_diverged",
    )
)
"""Rejections after which a new proposal, derived from a fresh read, can be accepted (contract,
"Retryable")."""

_FAILURE_FIELDS = frozenset(
    ("failure_reason", "failure_detail", "failed_change_id", "validation_stage", "code")
)


def accepted(
    target_file_id: str, before_hash: str, recorded: Mapping[str, Any], current: Observed
) -> JsonObject:
    """The answer to an accepted attempt; ``recorded`` is what the database answered or had kept
    of it."""
    warnings = recorded.get("diagnostic") or {}
    details = warnings.get("warnings", [])
    return {
        "status": "accepted",
        "target_file_id": target_file_id,
        "before_hash": before_hash,
        "after_hash": recorded["after_hash"],
        "version": recorded["after_version"],
        "current_version": current.version,
        "current_hash": current.current_hash,
        "pdcp_log_id": recorded["pdcp_log_id"],
        "manifest_entries_added": len(recorded["changes"]),
        "warnings": [f"{item['code']}: {item['detail']}" for item in details],
        "warning_details": details,
        "warning_count": warnings.get("warning_count", 0),
        "warnings_truncated": warnings.get("warnings_truncated", False),
        "validity": _validity(True, True),
        "evidence": {"changes": [_in_order(fact) for fact in recorded["changes"]]},
        "deduplicated": False,
        **_observation(recorded.get("observation") or {}),
    }


def rejected(
    target_file_id: object,
    failure: Mapping[str, Any],
    diagnostic: JsonObject,
    current_context: JsonObject,
    current: Observed | None,
    pdcp_log_id: str | None,
) -> JsonObject:
    """The answer to a rejected attempt; ``current`` is None when there is no such target."""
    current_hash = None if current is None else current.current_hash
    return {
        "status": "rejected",
        "target_file_id": echoed(target_file_id),
        "failure_reason": failure["failure_reason"],
        "failure_detail": failure["failure_detail"],
        "failed_change_id": failure.get("failed_change_id"),
        "before_hash": current_hash,
        "after_hash": None,
        "current_version": None if current is None else current.version,
        "current_hash": current_hash,
        "pdcp_log_id": pdcp_log_id,
        "diagnostic": diagnostic,
        "current_context": current_context,
        "validity": _validity(diagnostic["validation_stage"] != "protocol_validation", False),
        "deduplicated": False,
    }


def recovered(
    target_file_id: str,
    recorded: Mapping[str, Any],
    current_text: str,
    total_chars: int,
    current: Observed,
) -> JsonObject:
    """The answer to a request that had been judged before: its recorded outcome, and the target
    now."""
    if recorded["status"] == "accepted":
        return accepted(target_file_id, recorded["before_hash"], recorded, current) | {
            "deduplicated": True
        }
    diagnostic = recorded["diagnostic"]
    context = evidence.current_context(
        current_text, total_chars, current, diagnostic.get("failure_context")
    )
    return rejected(
        target_file_id, recorded, diagnostic, context, current, recorded["pdcp_log_id"]
    ) | {"before_hash": recorded["before_hash"], "deduplicated": True}


def near_misses_of(
    answer: Mapping[str, Any], failing_buffer: str | None, owned: bool
) -> JsonObject | None:
    """The ``near_misses`` of a rejection by match, or None for any other answer.

    ``failing_buffer`` is the text a fresh match_absent was searched in; without one the stored
    context is. ``owned`` tells that the service has committed, so that no lock is held.
    """
    if answer.get("failure_reason") == "sequential_match_invalid":
        return near_misses.omitted("sequential_match_consumed")
    if answer.get("failure_reason") != "match_absent":
        return None
    query = answer["diagnostic"].get("near_miss_query")
    context = answer["diagnostic"].get("failure_context")
    if query is None or context is None:
        return near_misses.omitted("historical_context_unavailable")
    if query["query"] is None:
        return near_misses.omitted(query["omission_reason"])
    if not owned:
        return near_misses.omitted("caller_transaction")
    if failing_buffer is not None:
        return near_misses.scan(
            failing_buffer,
            query["query"],
            offset=0,
            total_chars=len(failing_buffer),
            scan_source="failing_buffer",
        )
    return near_misses.scan(
        context["text"],
        query["query"],
        offset=context["start"],
        total_chars=context["total_chars"],
        scan_source="stored_failure_context",
    )


def diagnostic(
    protocol: str, failure: Mapping[str, Any], details: Mapping[str, Any], context: JsonObject
) -> JsonObject:
    """The diagnostic of a new rejection: what is stored with its row."""
    code = failure.get("code")
    return {
        "format": protocol,
        **({} if code is None else {"code": code}),
        **{name: value for name, value in failure.items() if name not in _FAILURE_FIELDS},
        **details,
        "retryable": failure["failure_reason"] in RETRYABLE_REASONS,
        "requires_new_submission": True,
        "validation_stage": failure["validation_stage"],
        "failure_context": context,
    }


def echoed(value: object) -> str | None:
    """A caller's string as an answer repeats it: whole up to 1,024 code points, otherwise null,
    never cut."""
    return value if isinstance(value, str) and len(value) <= ECHOED_CODE_POINTS else None


def _in_order(fact: JsonObject) -> JsonObject:
    """A fact with its fields in the contract's order, which jsonb does not keep."""
    return {name: fact[name] for name in FACT_FIELDS if name in fact}


def _observation(observed: Mapping[str, Any]) -> JsonObject:
    """What the answer to an observed attempt has of its own."""
    return {name: observed[name] for name in OBSERVATION_FIELDS if name in observed}


def _validity(protocol_valid: bool, transaction_valid: bool) -> JsonObject:
    return {
        "protocol_valid": protocol_valid,
        "transaction_valid": transaction_valid,
        "task_correct": "not_evaluated",
        "semantic": "not_evaluated",
    }


def over_mcp(answer: JsonObject) -> JsonObject:
    """``answer`` as an MCP response shows it: a current context that repeats the failure context
    is named, not sent."""
    context = answer.get("current_context")
    if not isinstance(context, Mapping) or not context.get("available"):
        return answer
    if context != answer["diagnostic"].get("failure_context"):
        return answer
    return answer | {"current_context": evidence.unavailable_context("same_as_failure_context")}
