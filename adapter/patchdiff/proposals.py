"""A proposal taken as far as it goes without its target: the record to store, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from patchdiff import invalid_text
from patchdiff.admission import replacement_refusal
from patchdiff.decoding import (
    MalformedProposalError,
    decode_batch,
    decode_edits,
    decode_operations,
    decode_replacement,
)
from patchdiff.records import (
    INVALID_INPUT,
    OBSERVED_BATCH,
    OPERATIONS,
    REPLACEMENT,
    TYPED_EDITS,
    Change,
    record_text,
)

JsonObject = dict[str, Any]

PROTOCOL_VALIDATION: Final = "protocol_validation"
PRECONDITION_GUARD: Final = "precondition_guard"
TRANSACTION_APPLICABILITY: Final = "transaction_applicability"

DECODERS: Final[Mapping[str, Callable[..., list[Change]]]] = {
    TYPED_EDITS: decode_edits,
    OPERATIONS: decode_operations,
    REPLACEMENT: decode_replacement,
    OBSERVED_BATCH: decode_batch,
}
"""How each transaction format turns the values of its proposal into changes."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposal as it is judged.

    ``row_protocol`` and ``record`` are what an attempt's row keeps; ``request`` the guards, key,
    lineage and source, null where they hold invalid text. ``failure`` says what is wrong with the
    proposal itself, with ``details`` for its diagnostic; ``too_large`` is the refusal of an
    oversized replacement. ``group_sizes`` are the numbers of changes of a batch's groups.
    """

    protocol: str
    row_protocol: str
    record: str
    request: JsonObject
    changes: list[Change] = field(default_factory=list)
    failure: JsonObject | None = None
    details: JsonObject = field(default_factory=dict)
    too_large: JsonObject | None = None
    group_sizes: list[int] = field(default_factory=list)

    @property
    def observed(self) -> bool:
        """Whether it names receipts, or should."""
        return "observation" in self.request


def prepare(
    protocol: str,
    fields: Mapping[str, object],
    request: Mapping[str, object],
    foreign: Mapping[str, object] | None = None,
) -> Proposal:
    """Classifies the text of a proposal, then decodes it.

    ``fields`` are those of the record after ``protocol``, in its order (contract, section 3).
    ``foreign`` are fields of another form that were sent beside them: the record keeps them, and
    they make the proposal malformed.
    """
    foreign = foreign or {}
    arguments = {**fields, **foreign, **request}
    places = invalid_text.invalid_places(arguments)
    if places:
        return Proposal(
            protocol,
            INVALID_INPUT,
            invalid_text.evidence_text(protocol, arguments),
            {
                name: None if invalid_text.invalid_places(value) else value
                for name, value in request.items()
            },
            failure=failed(
                "target_encoding_invalid",
                f"{places[0].path} is not valid PostgreSQL text at code point"
                f" {places[0].offset}: NUL and lone surrogates cannot be stored.",
            ),
            details=invalid_text.diagnostic_fields(places),
        )
    changes: list[Change] = []
    failure = None
    try:
        if foreign:
            raise MalformedProposalError(
                f"This form of the call has {', '.join(fields)}: leave {' and '.join(foreign)} out."
            )
        changes = DECODERS[protocol](*fields.values())
    except MalformedProposalError as malformed:
        failure = failed("protocol_invalid", malformed.detail) | {
            "failed_change_id": malformed.change_id
        }
    replacement = fields.get("replacement")
    return Proposal(
        protocol,
        protocol,
        record_text(protocol, {**fields, **foreign}),
        dict(request),
        changes,
        failure,
        too_large=replacement_refusal(replacement) if isinstance(replacement, str) else None,
    )


def strictly(proposal: Proposal) -> Proposal:
    """``proposal`` as a server judges it that only accepts edits of observed scopes."""
    if proposal.failure is not None:
        return proposal
    failure = failed(
        "context_invalid",
        "This server only accepts edits of observed scopes: observe a scope and submit inside it.",
        PRECONDITION_GUARD,
    )
    return replace(proposal, failure=failure | {"code": "OBSERVATION_REQUIRED"})


def failed(reason: str, detail: str, stage: str = PROTOCOL_VALIDATION) -> JsonObject:
    """A failure object: reason, sentence and stage."""
    return {"failure_reason": reason, "failure_detail": detail, "validation_stage": stage}
