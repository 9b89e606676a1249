"""One preview: the verdict that a submission would get now, without a lock, a row or a promise.

The database judges the request by the functions that judge submissions, and the proposal is
prepared and evaluated by theirs (contract, "patchdiff_preview"). `patchdiff.preview_bounds` holds
the answer to its budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import psycopg

from patchdiff import answers, database, evidence
from patchdiff.arguments import shown
from patchdiff.evaluation import NotApplicableError, evaluate, fact
from patchdiff.evidence import Observed
from patchdiff.invalid_text import invalid_places
from patchdiff.preview_bounds import bounded
from patchdiff.proposals import TRANSACTION_APPLICABILITY, Proposal, prepare, strictly
from patchdiff.records import FIELDS, runtime_version
from patchdiff.submission import application_failure
from patchdiff.text import sha256_hex

JsonObject = dict[str, Any]
Connection = psycopg.Connection[Any]

GUARDS: Final = ("expected_target_version", "expected_current_hash")

NOT_GIVEN: Final[Any] = object()
"""Stands for a field of the proposal that a call does not have: null would be one that it has."""

_ADVISORY: Final[JsonObject] = {"preview": True, "advisory": True}


def preview(
    connection: Connection,
    statement: Callable[[], AbstractContextManager[object]],
    target_file_id: object,
    format: object,  # noqa: A002
    arguments: Mapping[str, object],
    *,
    strict_observation: bool = False,
) -> JsonObject:
    """Judges a proposal on the target as it is now and returns the tool's answer.

    ``arguments`` are the guards and the fields of the proposal; one that the caller did not give is
    absent or NOT_GIVEN, since a field of another format is refused even when it is null.
    ``statement`` gives room for one statement. The status is accepted or rejected, as submission
    would have it; invalid_argument for an unknown format, a field of another format and a
    replacement that is too large.
    """
    if not isinstance(format, str) or format not in FIELDS:
        return _refusal(
            "unsupported_format",
            f"format must be one of {', '.join(FIELDS)}, not {shown(format)}.",
        ) | {"allowed_formats": list(FIELDS)}
    field = FIELDS[format]
    arguments = {name: value for name, value in arguments.items() if value is not NOT_GIVEN}
    foreign = [name for name in FIELDS.values() if name != field and name in arguments]
    if foreign:
        return _refusal(
            "field_of_another_format",
            f"A {format} proposal is intent and {field}: leave {' and '.join(foreign)} out, which"
            " may not be given even as null.",
        )
    fields = {"intent": arguments.get("intent"), field: arguments.get(field)}
    proposal = prepare(format, fields, {name: arguments.get(name) for name in GUARDS})
    if proposal.too_large is not None:
        detail = proposal.too_large["failure_detail"]
        return {**proposal.too_large, "detail": detail, **_ADVISORY}
    if strict_observation:
        proposal = strictly(proposal)
    answer = _judge(connection, statement, target_file_id, proposal)
    runtime = None if proposal.row_protocol != format else runtime_version(format, fields)
    return bounded(
        {
            "status": answer.pop("status"),
            **_ADVISORY,
            "target_file_id": answer.pop("target_file_id"),
            "format": format,
            "runtime_version": runtime,
            **answer,
        }
    )


def _judge(
    connection: Connection,
    statement: Callable[[], AbstractContextManager[object]],
    given_id: object,
    proposal: Proposal,
) -> JsonObject:
    """The verdict with all of its evidence, from one observation of the target."""
    target_file_id = given_id if isinstance(given_id, str) and not invalid_places(given_id) else ""
    with statement():
        previewed = database.preview_attempt(
            connection,
            target_file_id=target_file_id,
            request=proposal.request,
            proposal_failure=proposal.failure,
        )
    outcome, text = previewed.outcome, previewed.text or ""
    target = outcome["target"]
    if target is None:
        context = evidence.unavailable_context(outcome["missing"])
        diagnostic = _refused_diagnostic(proposal, outcome["failure"], context)
        answer = _rejected(outcome["failure"], diagnostic, dict(context), None)
        return answer | {"target_file_id": given_id if isinstance(given_id, str) else None}
    observed = Observed(target["version"], target["current_hash"])
    identity = {"target_file_id": target_file_id}
    if outcome["outcome"] == "refused":
        context = evidence.prefix_context(text, target["code_points"], observed)
        diagnostic = _refused_diagnostic(proposal, outcome["failure"], context)
        current = evidence.current_context(text, target["code_points"], observed, context)
        return _rejected(outcome["failure"], diagnostic, current, observed) | identity
    try:
        result = evaluate(text, proposal.changes)
    except NotApplicableError as problem:
        failure, diagnostic = application_failure(proposal.protocol, problem, observed)
        current = evidence.current_context(text, len(text), observed, diagnostic["failure_context"])
        answer = _rejected(failure, diagnostic, current, observed)
        similar = answers.near_misses_of(answer, problem.buffer, owned=True)
        return answer | ({} if similar is None else {"near_misses": similar}) | identity
    facts = [fact(applied) for applied in result.applied]
    return _accepted(sha256_hex(result.text), facts, result.warnings, observed) | identity


def _accepted(
    after_hash: str, facts: list[JsonObject], warnings: JsonObject | None, observed: Observed
) -> JsonObject:
    submitted = answers.accepted(
        "",
        observed.current_hash,
        {
            "after_hash": after_hash,
            "after_version": observed.version + 1,
            "pdcp_log_id": None,
            "changes": facts,
            "diagnostic": warnings,
        },
        observed,
    )
    return {
        **_observation("accepted", TRANSACTION_APPLICABILITY, submitted, observed),
        "after_hash": after_hash,
        "change_facts": submitted["evidence"]["changes"],
        **{
            name: submitted[name]
            for name in ("warnings", "warning_details", "warning_count", "warnings_truncated")
        },
    }


def _rejected(
    failure: JsonObject,
    diagnostic: JsonObject,
    current_context: JsonObject,
    observed: Observed | None,
) -> JsonObject:
    submitted = answers.rejected(None, failure, diagnostic, current_context, observed, None)
    return {
        **_observation("rejected", diagnostic["validation_stage"], submitted, observed),
        **{
            name: submitted[name]
            for name in (
                "after_hash",
                "failure_reason",
                "failure_detail",
                "failed_change_id",
                "diagnostic",
                "current_context",
            )
        },
    }


def _observation(
    status: str, stage: str, submitted: JsonObject, observed: Observed | None
) -> JsonObject:
    """What every verdict has: the target before a submission is the target now."""
    version = None if observed is None else observed.version
    current_hash = None if observed is None else observed.current_hash
    return {
        "status": status,
        "stage": stage,
        "validity": submitted["validity"],
        "current_version": version,
        "current_hash": current_hash,
        "before_version": version,
        "before_hash": current_hash,
    }


def _refused_diagnostic(proposal: Proposal, failure: JsonObject, context: JsonObject) -> JsonObject:
    return answers.diagnostic(proposal.protocol, failure, proposal.details, context)


def _refusal(code: str, detail: str) -> JsonObject:
    return {
        "status": "invalid_argument",
        "code": code,
        "detail": detail,
        "failure_detail": detail,
        **_ADVISORY,
    }
