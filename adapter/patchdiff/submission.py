"""One submission, from the caller's arguments to the tool's answer.

The order of judgement is the contract's: the database judges, locks and records; this module
evaluates and words the answer. A submission is one transaction. Where the service still holds the
target's current text, a single call does: the writers name the state they were evaluated on, and
write nothing when the target has left it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from patchdiff import answers, database, evidence, near_misses
from patchdiff.database import Base, OpenedAttempt
from patchdiff.evaluation import NotApplicableError
from patchdiff.evidence import Observed
from patchdiff.invalid_text import invalid_places
from patchdiff.observed import evaluate_observed, prepare_observed
from patchdiff.observed_scopes import ObservedScopes
from patchdiff.proposals import TRANSACTION_APPLICABILITY, Proposal, failed, prepare, strictly
from patchdiff.record_differences import differing_fields
from patchdiff.records import Match
from patchdiff.text import sha256_hex
from patchdiff.text_cache import TextCache

JsonObject = dict[str, Any]
Connection = psycopg.Connection[Any]

JUDGED_BEFORE_ADMISSION = ("request_key_conflict", "invalid_client_request_id")
"""Codes of refusals that come before the limits of a whole replacement."""


class AttemptNotRecordedError(RuntimeError):
    """The database did not record what it had just been locked for: a fault of the product."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One call of a submission tool, as the caller sent it.

    ``fields`` are the record's after its protocol, in order; ``request`` holds guards, key, lineage
    and source. An observed one has its intent as the only field, and what else it says in
    ``observed_form``, by which its protocol is chosen.
    """

    protocol: str
    target_file_id: object
    fields: Mapping[str, object]
    request: Mapping[str, object]
    observed_form: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer, and the buffer in which a fresh match_absent failed."""

    answer: JsonObject
    failing_buffer: str | None = None


class SubmissionPipeline:
    """Submits proposals through one connection, holding the texts of targets it wrote lately."""

    def __init__(
        self,
        connection: Connection,
        transaction: Callable[[], AbstractContextManager[object]],
        statement: Callable[[], AbstractContextManager[object]],
        strict_observation: bool,
        scopes: ObservedScopes,
    ) -> None:
        """``transaction`` begins a transaction, or joins the one that the caller has open;
        ``statement`` does so for one statement.

        With ``strict_observation`` every unobserved write is rejected (OBSERVATION_REQUIRED).
        ``scopes`` verifies those of observed writes.
        """
        self._connection = connection
        self._transaction = transaction
        self._statement = statement
        self._strict_observation = strict_observation
        self._scopes = scopes
        self._cache = TextCache()

    def submit(self, submission: Submission) -> JsonObject:
        """Judges, evaluates and records a submission; returns the tool's answer."""
        target_file_id = submission.target_file_id
        if not isinstance(target_file_id, str) or invalid_places(target_file_id):
            target_file_id = ""
        proposal = self._prepared(submission, target_file_id)
        owned = self._connection.info.transaction_status == TransactionStatus.IDLE
        judged = None
        if proposal.failure is None and proposal.too_large is None and not proposal.observed:
            base = self._cache.get(target_file_id)
            if base is not None:
                with self._statement():
                    judged = self._attempt_on(base, target_file_id, proposal)
        if judged is None:
            with self._transaction():
                judged = self._attempt_under_lock(
                    target_file_id, submission.target_file_id, proposal
                )
        answer = judged.answer
        if answer["status"] == "invalid_argument":
            return answer
        similar = answers.near_misses_of(answer, judged.failing_buffer, owned)
        return {
            **answer,
            **({} if similar is None else {"near_misses": similar}),
            "client_request_id": answers.echoed(submission.request.get("client_request_id")),
        }

    def _prepared(self, submission: Submission, target_file_id: str) -> Proposal:
        if submission.observed_form is None:
            proposal = prepare(submission.protocol, submission.fields, submission.request)
            return strictly(proposal) if self._strict_observation else proposal
        proposal = prepare_observed(
            submission.fields["intent"],
            submission.observed_form,
            submission.request,
            self._scopes.identity(),
        )
        if proposal.failure is None:
            # parsed before the target is locked
            guard = submission.request.get("expected_current_hash")
            self._scopes.prepare(target_file_id, guard)
        return proposal

    def _attempt_under_lock(
        self, target_file_id: str, given_id: object, proposal: Proposal
    ) -> Judged:
        opened = database.open_attempt(
            self._connection,
            target_file_id=target_file_id,
            protocol_version=proposal.row_protocol,
            pdcp_content_hash=sha256_hex(proposal.record),
            request=proposal.request,
            proposal_failure=proposal.failure,
        )
        outcome = opened.outcome
        recovered = outcome["outcome"] == "recovered"
        code = outcome.get("failure", {}).get("code")
        if proposal.too_large and not recovered and code not in JUDGED_BEFORE_ADMISSION:
            return Judged(proposal.too_large)
        target = outcome["target"]
        if target is None:
            return Judged(_without_target(proposal, opened, given_id))
        observed = Observed(target["version"], target["current_hash"])
        text = opened.text or ""
        if recovered:
            return Judged(
                answers.recovered(
                    target_file_id, outcome["recorded"], text, target["code_points"], observed
                )
            )
        if outcome["outcome"] == "refused":
            details = dict(proposal.details)
            if code == "request_key_conflict":
                details |= differing_fields(outcome["existing_content"], proposal.record)
            context = evidence.prefix_context(text, target["code_points"], observed)
            answer = self._reject(
                target_file_id,
                proposal,
                outcome["failure"],
                answers.diagnostic(proposal.protocol, outcome["failure"], details, context),
                evidence.current_context(text, target["code_points"], observed, context),
                observed,
            )
            judged = None if answer is None else Judged(answer)
        else:
            base = Base(observed.version, observed.current_hash, text)
            judged = self._observed(base, target_file_id, proposal, outcome)
        if judged is None:
            raise AttemptNotRecordedError(
                "The database did not record an attempt on a target that it had locked for it."
            )
        return judged

    def _observed(
        self, base: Base, target_file_id: str, proposal: Proposal, outcome: JsonObject
    ) -> Judged | None:
        """As ``_attempt_on``, with the scopes of an observed proposal verified before."""
        receipts = outcome.get("receipts") or []
        failure = self._scopes.failure(base.text, outcome["file"], receipts) if receipts else None
        if failure is None:
            return self._attempt_on(base, target_file_id, proposal, receipts)
        observed = Observed(base.version, base.current_hash)
        context = evidence.prefix_context(base.text, len(base.text), observed)
        answer = self._reject(
            target_file_id,
            proposal,
            failure,
            answers.diagnostic(proposal.protocol, failure, {}, context),
            evidence.current_context(base.text, len(base.text), observed, context),
            observed,
        )
        return None if answer is None else Judged(answer)

    def _attempt_on(
        self,
        base: Base,
        target_file_id: str,
        proposal: Proposal,
        receipts: Sequence[JsonObject] = (),
    ) -> Judged | None:
        """Evaluates on ``base`` and records the outcome; None when the database wrote nothing."""
        observed = Observed(base.version, base.current_hash)
        try:
            result = evaluate_observed(base.text, proposal, receipts)
        except NotApplicableError as problem:
            failure, diagnostic = application_failure(proposal.protocol, problem, observed)
            answer = self._reject(
                target_file_id,
                proposal,
                failure,
                diagnostic,
                evidence.current_context(
                    base.text, len(base.text), observed, diagnostic["failure_context"]
                ),
                observed,
            )
            return None if answer is None else Judged(answer, problem.buffer)
        after_hash = sha256_hex(result.text)
        recorded = database.accept_attempt(
            self._connection,
            target_file_id=target_file_id,
            base=base,
            protocol_version=proposal.row_protocol,
            pdcp_content=proposal.record,
            request=proposal.request,
            span_starts=[change.start for change in result.applied],
            byte_starts=[change.byte_start for change in result.applied],
            after_hash=after_hash,
            warnings=result.warnings,
        )
        if recorded["outcome"] != "accepted":
            self._note_unrecorded(target_file_id, recorded)
            return None
        current = Observed(recorded["after_version"], after_hash)
        self._cache.put(target_file_id, Base(current.version, after_hash, result.text))
        return Judged(
            answers.accepted(
                target_file_id,
                base.current_hash,
                recorded | {"diagnostic": result.warnings},
                current,
            )
        )

    def _reject(
        self,
        target_file_id: str,
        proposal: Proposal,
        failure: JsonObject,
        diagnostic: JsonObject,
        current_context: JsonObject,
        observed: Observed,
    ) -> JsonObject | None:
        """Records a rejection judged on the target as observed; None when nothing was written."""
        recorded = database.reject_attempt(
            self._connection,
            target_file_id=target_file_id,
            base_version=observed.version,
            base_hash=observed.current_hash,
            protocol_version=proposal.row_protocol,
            pdcp_content=proposal.record,
            request=proposal.request,
            failure=failure,
            diagnostic=diagnostic,
        )
        if recorded["outcome"] != "rejected":
            self._note_unrecorded(target_file_id, recorded)
            return None
        return answers.rejected(
            target_file_id, failure, diagnostic, current_context, observed, recorded["pdcp_log_id"]
        )

    def _note_unrecorded(self, target_file_id: str, recorded: JsonObject) -> None:
        if recorded["outcome"] in ("stale_base", "misfit", "no_target"):
            self._cache.found_stale(target_file_id)


def application_failure(
    protocol: str, problem: NotApplicableError, observed: Observed
) -> tuple[JsonObject, JsonObject]:
    """The failure and the diagnostic of a change that does not apply, with bounded evidence."""
    failure = failed(problem.reason, problem.detail, TRANSACTION_APPLICABILITY) | {
        "failed_change_id": problem.change.change_id
    }
    details = dict(problem.details)
    if problem.candidates is not None and isinstance(problem.change, Match):
        details["exact_candidates"] = evidence.exact_candidates(
            problem.buffer,
            problem.candidates,
            problem.change.match,
            problem.prior_changes,
            observed,
            in_scope=problem.in_scope,
        )
    if problem.reason == "match_absent" and isinstance(problem.change, Match):
        details["near_miss_query"] = near_misses.near_miss_query(problem.change.submitted_match)
    context = evidence.failure_context(
        problem.buffer,
        problem.prior_changes,
        problem.location,
        observed,
        in_scope=problem.in_scope,
    )
    return failure, answers.diagnostic(protocol, failure, details, context)


def _without_target(proposal: Proposal, opened: OpenedAttempt, given_id: object) -> JsonObject:
    failure = opened.outcome["failure"]
    context = evidence.unavailable_context(opened.outcome["missing"])
    return answers.rejected(
        given_id,
        failure,
        answers.diagnostic(proposal.protocol, failure, proposal.details, context),
        dict(context),
        None,
        None,
    )
