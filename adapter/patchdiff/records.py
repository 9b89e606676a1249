"""What a proposal says: the stored record of a transaction, and its changes in canonical text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TYPED_EDITS = "patchdiff-tx/1"
OPERATIONS = "patchdiff-tx/2"
REPLACEMENT = "patchdiff-tx/3"
OBSERVED_BATCH = "patchdiff-observed-batch/1"
INVALID_INPUT = "patchdiff-invalid-input/1"

TYPED_RUNTIME = "patchdiff-mvp-0.2.2"
SPAN_RUNTIME = "patchdiff-mvp-0.3.0"
SPAN_CONTEXT_RUNTIME = "patchdiff-mvp-0.5.0"
REPLACEMENT_RUNTIME = "patchdiff-mvp-0.4.0"
OBSERVED_BATCH_RUNTIME = "patchdiff-observed-batch-r1"

FIELDS: Final[Mapping[str, str]] = {
    TYPED_EDITS: "edits",
    OPERATIONS: "operations",
    REPLACEMENT: "replacement",
}
"""Which field, beside intent, a proposal of each format has."""


@dataclass(frozen=True, slots=True)
class Match:
    """A change found by its exact text. Texts are canonical, except ``submitted_match``.

    ``index`` and ``occurrence_index`` are one-based.
    """

    index: int
    change_id: str
    match: str
    replace: str
    occurrence_index: int | None
    anchor_before: str | None
    anchor_after: str | None
    submitted_match: str


@dataclass(frozen=True, slots=True)
class Span:
    """A change at ``[start, end)``, in code points of the buffer that it sees. Texts are canonical.

    ``expected_before`` and ``expected_after`` are the texts that must stand directly beside it.
    """

    index: int
    change_id: str
    start: int
    end: int
    expected_text: str
    replace: str
    expected_before: str | None
    expected_after: str | None


@dataclass(frozen=True, slots=True)
class WholeReplacement:
    """The change of the whole text into ``replace``, which is canonical."""

    index: int
    change_id: str
    replace: str


Change = Match | Span | WholeReplacement


def compact_json(value: object) -> str:
    """``value`` as compact JSON with literal characters: the form of a stored record."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def record_text(protocol: str, proposal: Mapping[str, object]) -> str:
    """The record of a proposal as it is stored: ``protocol``, then the proposal's own fields.

    Texts stay as submitted and optional keys appear only when they were sent (decisions, section
    3).
    """
    return compact_json({"protocol": protocol, **proposal})


def default_change_id(index: int) -> str:
    """The name of the change at one-based ``index`` when its record gives none."""
    return f"chg_{index:03d}"


def runtime_version(protocol: str, fields: Mapping[str, object]) -> str:
    """The evaluator that judges a proposal, as its row would name it.

    ``fields`` are those of the record, well-formed or not. Operations of which any span has a key
    of span context, null or not, belong to a runtime of their own (contract, "Runtime profiles").
    """
    if protocol == TYPED_EDITS:
        return TYPED_RUNTIME
    if protocol == REPLACEMENT:
        return REPLACEMENT_RUNTIME
    operations = fields.get("operations")
    has_context = isinstance(operations, list) and any(
        isinstance(operation, dict)
        and operation.get("op") == "span"
        and ("expected_before" in operation or "expected_after" in operation)
        for operation in operations
    )
    return SPAN_CONTEXT_RUNTIME if has_context else SPAN_RUNTIME
