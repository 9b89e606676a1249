"""What a proposal says: the stored record of a transaction, and its changes in canonical text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from patchdiff.text import canonical

TYPED_EDITS = "patchdiff-tx/1"
INVALID_INPUT = "patchdiff-invalid-input/1"

RISKS = ("low", "medium", "high")
CHANGE_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")

MATCH_FIELDS = (
    "match",
    "replace",
    "change_id",
    "rationale",
    "risk",
    "occurrence_index",
    "anchor_before",
    "anchor_after",
)


@dataclass(frozen=True, slots=True)
class Match:
    """One exact-match change. Texts are canonical; ``index`` and ``occurrence_index`` are
    one-based."""

    index: int
    change_id: str
    match: str
    replace: str
    occurrence_index: int | None
    anchor_before: str | None
    anchor_after: str | None


@dataclass(eq=False)
class MalformedProposalError(Exception):
    """A proposal of the wrong shape: what is wrong, and the change at fault where one is
    (protocol_invalid)."""

    detail: str
    change_id: str | None = None


def compact_json(value: object) -> str:
    """``value`` as compact JSON with literal characters: the form of a stored record."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def record_text(protocol: str, proposal: Mapping[str, object]) -> str:
    """The record of a proposal as it is stored: ``protocol``, then the proposal's own fields in
    order.

    Texts stay as submitted and optional keys appear only when they were sent (decisions, section
    3).
    """
    return compact_json({"protocol": protocol, **proposal})


def decode_edits(intent: object, edits: object) -> list[Match]:
    """The changes of a patchdiff-tx/1 proposal, in order.

    Raises MalformedProposalError when intent or edits do not have the shape that the contract's
    section 3 gives them.
    """
    if not isinstance(intent, str):
        raise MalformedProposalError("intent must be a string.")
    if not isinstance(edits, list) or not edits:
        raise MalformedProposalError("edits must be a non-empty list of edit objects.")
    changes = [_decode_match(position, edit) for position, edit in enumerate(edits)]
    seen: set[str] = set()
    for position, change in enumerate(changes):
        if change.change_id in seen:
            raise MalformedProposalError(
                f"edits[{position}] has the change_id of an earlier edit: change ids must differ,"
                " the default ones by position (chg_001, chg_002) included.",
                change.change_id,
            )
        seen.add(change.change_id)
    return changes


def default_change_id(index: int) -> str:
    """The name of the change at one-based ``index`` when its record gives none."""
    return f"chg_{index:03d}"


def _decode_match(position: int, edit: object) -> Match:
    where = f"edits[{position}]"
    change_id = default_change_id(position + 1)
    if not isinstance(edit, dict):
        raise MalformedProposalError(f"{where} must be an object.", change_id)
    given_id = edit.get("change_id")
    if given_id is not None:
        if not isinstance(given_id, str) or not CHANGE_ID.fullmatch(given_id):
            raise MalformedProposalError(
                f"{where}.change_id must be null or 1 to 64 characters of A-Z, a-z, 0-9, '_', '.'"
                " and '-'.",
                change_id,
            )
        change_id = given_id
    unknown = [name for name in edit if name not in MATCH_FIELDS]
    if unknown:
        raise MalformedProposalError(
            f"{where} has a field that an edit does not have: {ascii(unknown[0])[:80]}.", change_id
        )
    for field, holds, expected in _MATCH_RULES:
        if not holds(edit.get(field)):
            raise MalformedProposalError(f"{where}.{field} must be {expected}.", change_id)
    return Match(
        index=position + 1,
        change_id=change_id,
        match=canonical(edit["match"]),
        replace=canonical(edit["replace"]),
        occurrence_index=edit.get("occurrence_index"),
        anchor_before=_canonical_or_none(edit.get("anchor_before")),
        anchor_after=_canonical_or_none(edit.get("anchor_after")),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_filled_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_risk(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in RISKS)


def _is_occurrence_index(value: object) -> bool:
    return value is None or (type(value) is int and value >= 1)


_MATCH_RULES: tuple[tuple[str, Callable[[object], bool], str], ...] = (
    ("match", _is_filled_text, "a non-empty string"),
    ("replace", _is_text, "a string (empty to delete)"),
    ("rationale", _is_text_or_null, "a string or null"),
    ("risk", _is_risk, "low, medium, high or null"),
    ("occurrence_index", _is_occurrence_index, "an integer of at least 1, or null"),
    ("anchor_before", _is_text_or_null, "a string or null"),
    ("anchor_after", _is_text_or_null, "a string or null"),
)


def _canonical_or_none(value: str | None) -> str | None:
    return None if value is None else canonical(value)
