"""An observed submission: what it says, and its evaluation inside the scopes of its receipts.

Both forms come through one tool; which one a call means shows in the fields that it gives
(contract, "patchdiff_submit_observed_operations").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from patchdiff.batch import Group, evaluate_batch
from patchdiff.evaluation import Result, evaluate
from patchdiff.proposals import Proposal, failed, prepare
from patchdiff.records import OBSERVED_BATCH, OPERATIONS, Change
from patchdiff.scope import Scope

JsonObject = dict[str, Any]

BATCH_FIELDS = ("observation_bundle_id", "groups")
SINGLE_FIELDS = ("observation_id", "operations")


def prepare_observed(
    intent: object, form: Mapping[str, object], request: Mapping[str, object], engine: str | None
) -> Proposal:
    """The proposal of one call; null fields of ``form`` count as not given.

    ``engine`` is the identity that the receipts must have been issued under. The database judges
    the receipts by the request's member ``observation``.
    """
    given = {name: value for name, value in form.items() if value is not None}
    if any(name in given for name in BATCH_FIELDS):
        fields: JsonObject = {"intent": intent, **{name: given.get(name) for name in BATCH_FIELDS}}
        foreign = {name: given[name] for name in SINGLE_FIELDS if name in given}
        proposal = prepare(OBSERVED_BATCH, fields, request, foreign)
        observation: JsonObject = {
            "observation_bundle_id": given.get("observation_bundle_id"),
            "observation_ids": _named(given.get("groups")),
        }
        if proposal.changes:
            sizes = [len(group["operations"]) for group in fields["groups"]]
            proposal = replace(proposal, group_sizes=sizes)
    else:
        fields = {"intent": intent, "operations": given.get("operations")}
        observation = {"observation_id": given.get("observation_id")}
        proposal = prepare(OPERATIONS, fields, {**request, **observation})
        observation = {"observation_id": proposal.request.get("observation_id")}
    if proposal.failure is None and not str(intent).strip():
        proposal = replace(
            proposal, failure=failed("protocol_invalid", "intent must say something.")
        )
    if proposal.row_protocol != proposal.protocol:
        observation = {}
    return replace(
        proposal,
        request={
            **{name: proposal.request[name] for name in request},
            "observation": {**observation, "engine": engine},
        },
    )


def _named(groups: object) -> list[object]:
    if not isinstance(groups, list):
        return []
    return [group.get("observation_id") if isinstance(group, dict) else None for group in groups]


def evaluate_observed(
    text: str, proposal: Proposal, receipts: Sequence[Mapping[str, Any]]
) -> Result:
    """Evaluates a proposal inside the scopes of its receipts, or anywhere when it has none.

    Receipts are in the proposal's order. Raises NotApplicableError.
    """
    if not receipts:
        return evaluate(text, proposal.changes)
    if proposal.group_sizes:
        return evaluate_batch(text, grouped(proposal.changes, proposal.group_sizes, receipts))
    scope = Scope(receipts[0]["scope_start"], receipts[0]["scope_end"])
    return evaluate(text, proposal.changes, scope)


def grouped(
    changes: Sequence[Change], sizes: Sequence[int], receipts: Sequence[Mapping[str, Any]]
) -> list[Group]:
    """The changes of a batch by groups of these sizes, each with the scope of its receipt."""
    groups = []
    first = 0
    for size, receipt in zip(sizes, receipts, strict=True):
        groups.append(
            Group(
                receipt["observation_id"],
                receipt["scope_start"],
                receipt["scope_end"],
                changes[first : first + size],
            )
        )
        first += size
    return groups
