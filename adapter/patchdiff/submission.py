"""One submission, from the caller's arguments to the tool's answer.

The order of judgement is the contract's: the database judges, locks and records; this module
decodes, evaluates and words the answer. A submission is one transaction. Where the service still
holds the target's current text, a single call does: the writers name the state they were evaluated
on, and write nothing when the target has left it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from patchdiff import answers, database, evidence, invalid_text
from patchdiff.database import Base, OpenedAttempt
from patchdiff.evaluation import NotApplicableError, evaluate
from patchdiff.evidence import Observed
from patchdiff.records import INVALID_INPUT, MalformedProposalError, Match, record_text
from patchdiff.text import sha256_hex
from patchdiff.text_cache import TextCache

JsonObject = dict[str, Any]
Connection = psycopg.Connection[Any]

PROTOCOL_VALIDATION = "protocol_validation"
PRECONDITION_GUARD = "precondition_guard"
TRANSACTION_APPLICABILITY = "transaction_applicability"


class AttemptNotRecordedError(RuntimeError):
    """The database did not record what it had just been locked for: a fault of the product, not
    of the caller."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One call of a submission tool, as the caller sent it.

    ``proposal`` holds the record's fields in order; ``decode`` makes changes of their values or
    raises MalformedProposalError. ``request`` holds guards, key, lineage and source.
    """

    protocol: str
    target_file_id: object
    proposal: Mapping[str, object]
    request: Mapping[str, object]
    decode: Callable[..., list[Match]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A submission taken as far as it goes without its target: the record to store and what it
    says."""

    target_file_id: str
    protocol: str
    row_protocol: str
    record: str
    request: JsonObject
    changes: list[Match] = field(default_factory=list)
    failure: JsonObject | None = None
    details: JsonObject = field(default_factory=dict)


class SubmissionPipeline:
    """Submits proposals through one connection, holding the texts of targets it has written
    lately."""

    def __init__(
        self,
        connection: Connection,
        transaction: Callable[[], AbstractContextManager[object]],
        statement: Callable[[], AbstractContextManager[object]],
        strict_observation: bool,
    ) -> None:
        """``transaction`` begins a transaction, or joins the one that the caller has open;
        ``statement`` does so for one statement.

        With ``strict_observation`` every unobserved write is rejected (OBSERVATION_REQUIRED).
        """
        self._connection = connection
        self._transaction = transaction
        self._statement = statement
        self._strict_observation = strict_observation
        self._cache = TextCache()

    def submit(self, submission: Submission) -> JsonObject:
        """Judges, evaluates and records a submission; returns the tool's answer."""
        prepared = self._prepare(submission)
        answer = None
        base = self._cache.get(prepared.target_file_id) if prepared.failure is None else None
        if base is not None:
            with self._statement():
                answer = self._attempt_on(base, prepared)
        if answer is None:
            with self._transaction():
                answer = self._attempt_under_lock(prepared, submission.target_file_id)
        key = submission.request.get("client_request_id")
        return answer | {"client_request_id": answers.echoed(key)}

    def _prepare(self, submission: Submission) -> Prepared:
        target_file_id = submission.target_file_id
        if not isinstance(target_file_id, str) or invalid_text.invalid_places(target_file_id):
            target_file_id = ""
        arguments = {**submission.proposal, **submission.request}
        places = invalid_text.invalid_places(arguments)
        if places:
            return Prepared(
                target_file_id,
                submission.protocol,
                INVALID_INPUT,
                invalid_text.evidence_text(submission.protocol, arguments),
                {
                    name: None if invalid_text.invalid_places(value) else value
                    for name, value in submission.request.items()
                },
                failure=_failure(
                    "target_encoding_invalid",
                    f"{places[0].path} is not valid PostgreSQL text at code point"
                    f" {places[0].offset}: NUL and lone surrogates cannot be stored.",
                ),
                details=invalid_text.diagnostic_fields(places),
            )
        changes: list[Match] = []
        failure = None
        try:
            changes = submission.decode(*submission.proposal.values())
        except MalformedProposalError as malformed:
            failure = _failure("protocol_invalid", malformed.detail) | {
                "failed_change_id": malformed.change_id
            }
        if failure is None and self._strict_observation:
            failure = _failure(
                "context_invalid",
                "This server only accepts edits of observed scopes: observe a scope and submit"
                " inside it.",
                PRECONDITION_GUARD,
            ) | {"code": "OBSERVATION_REQUIRED"}
        return Prepared(
            target_file_id,
            submission.protocol,
            submission.protocol,
            record_text(submission.protocol, submission.proposal),
            dict(submission.request),
            changes,
            failure,
        )

    def _attempt_under_lock(self, prepared: Prepared, given_id: object) -> JsonObject:
        opened = database.open_attempt(
            self._connection,
            target_file_id=prepared.target_file_id,
            protocol_version=prepared.row_protocol,
            pdcp_content_hash=sha256_hex(prepared.record),
            request=prepared.request,
            proposal_failure=prepared.failure,
        )
        target = opened.outcome["target"]
        if target is None:
            return _without_target(prepared, opened, given_id)
        observed = Observed(target["version"], target["current_hash"])
        text = opened.text or ""
        match opened.outcome["outcome"]:
            case "recovered":
                return answers.recovered(
                    prepared.target_file_id,
                    opened.outcome["recorded"],
                    text,
                    target["code_points"],
                    observed,
                )
            case "refused":
                answer = self._reject(
                    prepared,
                    opened.outcome["failure"],
                    prepared.details,
                    evidence.prefix_context(text, target["code_points"], observed),
                    text,
                    target["code_points"],
                    observed,
                )
            case _:
                answer = self._attempt_on(Base(*_identity(observed), text), prepared)
        if answer is None:
            raise AttemptNotRecordedError(
                "The database did not record an attempt on a target that it had locked for it."
            )
        return answer

    def _attempt_on(self, base: Base, prepared: Prepared) -> JsonObject | None:
        """Evaluates on ``base`` and records the outcome; None when the database wrote nothing."""
        observed = Observed(base.version, base.current_hash)
        try:
            result = evaluate(base.text, prepared.changes)
        except NotApplicableError as failure:
            return self._reject(
                prepared,
                _failure(failure.reason, failure.detail, TRANSACTION_APPLICABILITY)
                | {"failed_change_id": failure.change.change_id},
                _application_details(failure, observed),
                evidence.failure_context(
                    failure.buffer, failure.prior_changes, failure.location, observed
                ),
                base.text,
                len(base.text),
                observed,
            )
        after_hash = sha256_hex(result.text)
        recorded = database.accept_attempt(
            self._connection,
            target_file_id=prepared.target_file_id,
            base=base,
            protocol_version=prepared.row_protocol,
            pdcp_content=prepared.record,
            request=prepared.request,
            span_starts=[change.start for change in result.applied],
            byte_starts=[change.byte_start for change in result.applied],
            after_hash=after_hash,
            warnings=None,
        )
        if recorded["outcome"] != "accepted":
            self._note_unrecorded(prepared, recorded)
            return None
        current = Observed(recorded["after_version"], after_hash)
        self._cache.put(prepared.target_file_id, Base(*_identity(current), result.text))
        return answers.accepted(prepared.target_file_id, base.current_hash, recorded, current)

    def _reject(
        self,
        prepared: Prepared,
        failure: JsonObject,
        details: Mapping[str, object],
        context: JsonObject,
        text: str,
        total_chars: int,
        observed: Observed,
    ) -> JsonObject | None:
        """Records a rejection judged on the target as ``observed``; None when the database wrote
        nothing."""
        diagnostic = answers.diagnostic(prepared.protocol, failure, details, context)
        recorded = database.reject_attempt(
            self._connection,
            target_file_id=prepared.target_file_id,
            base_version=observed.version,
            base_hash=observed.current_hash,
            protocol_version=prepared.row_protocol,
            pdcp_content=prepared.record,
            request=prepared.request,
            failure=failure,
            diagnostic=diagnostic,
        )
        if recorded["outcome"] != "rejected":
            self._note_unrecorded(prepared, recorded)
            return None
        current_context = evidence.current_context(text, total_chars, observed, context)
        return answers.rejected(
            prepared.target_file_id,
            failure,
            diagnostic,
            current_context,
            observed,
            recorded["pdcp_log_id"],
        )

    def _note_unrecorded(self, prepared: Prepared, recorded: JsonObject) -> None:
        if recorded["outcome"] in ("stale_base", "misfit", "no_target"):
            self._cache.found_stale(prepared.target_file_id)


def _failure(reason: str, detail: str, stage: str = PROTOCOL_VALIDATION) -> JsonObject:
    return {"failure_reason": reason, "failure_detail": detail, "validation_stage": stage}


def _identity(observed: Observed) -> tuple[int, str]:
    return observed.version, observed.current_hash


def _application_details(failure: NotApplicableError, observed: Observed) -> JsonObject:
    details = dict(failure.details)
    if failure.candidates is not None:
        details["exact_candidates"] = evidence.exact_candidates(
            failure.buffer,
            failure.candidates,
            failure.change.match,
            failure.prior_changes,
            observed,
        )
    return details


def _without_target(prepared: Prepared, opened: OpenedAttempt, given_id: object) -> JsonObject:
    failure = opened.outcome["failure"]
    context = evidence.unavailable_context(opened.outcome["missing"])
    return answers.rejected(
        given_id,
        failure,
        answers.diagnostic(prepared.protocol, failure, prepared.details, context),
        dict(context),
        None,
        None,
    )
