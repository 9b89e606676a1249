"""From a proposal as submitted to its changes: the shape that the contract's section 3 gives it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from patchdiff.records import Change, Match, Span, WholeReplacement, default_change_id
from patchdiff.text import canonical

RISKS = ("low", "medium", "high")
CHANGE_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
LARGEST_OFFSET = 2**63 - 1
GROUPS = 32
BATCH_OPERATIONS = 128

Rule = tuple[str, Callable[[object], bool], str]


@dataclass(eq=False)
class MalformedProposalError(Exception):
    """A proposal of the wrong shape: what is wrong, and the change at fault where one is."""

    detail: str
    change_id: str | None = None


def decode_edits(intent: object, edits: object) -> list[Change]:
    """The changes of a patchdiff-tx/1 proposal, in order.

    Raises MalformedProposalError when intent or edits do not have their shape.
    """
    _check_intent(intent)
    return _decode_list("edits", edits, _decode_edit)


def decode_operations(intent: object, operations: object) -> list[Change]:
    """The changes of a patchdiff-tx/2 proposal, matches and spans, in order.

    Raises MalformedProposalError when intent or operations do not have their shape.
    """
    _check_intent(intent)
    return _decode_list("operations", operations, _decode_operation)


def decode_batch(intent: object, _observation_bundle_id: object, groups: object) -> list[Change]:
    """The changes of a patchdiff-observed-batch/1 proposal, group after group.

    Whether its receipts can be used is the database's to judge. Raises MalformedProposalError when
    intent, groups or their operations do not have their shape or number.
    """
    _check_intent(intent)
    if not isinstance(groups, list) or not 1 <= len(groups) <= GROUPS:
        raise MalformedProposalError(f"groups must be a list of 1 to {GROUPS} objects.")
    changes: list[Change] = []
    receipts: set[str] = set()
    for number, group in enumerate(groups):
        where = f"groups[{number}]"
        if not isinstance(group, dict) or set(group) != {"observation_id", "operations"}:
            raise MalformedProposalError(
                f"{where} must be an object of exactly observation_id and operations."
            )
        receipt = group["observation_id"]
        if isinstance(receipt, str):
            if receipt in receipts:
                raise MalformedProposalError(
                    f"{where} has the observation_id of an earlier group: put all operations of a"
                    " scope into one."
                )
            receipts.add(receipt)
        changes += _decode_list(
            f"{where}.operations", group["operations"], _decode_operation, len(changes)
        )
    if len(changes) > BATCH_OPERATIONS:
        raise MalformedProposalError(
            f"groups have {len(changes)} operations together; at most {BATCH_OPERATIONS} are taken."
        )
    _check_distinct("groups", changes)
    return changes


def decode_replacement(intent: object, replacement: object) -> list[Change]:
    """The one change of a patchdiff-tx/3 proposal.

    Raises MalformedProposalError when intent or replacement is no string.
    """
    _check_intent(intent)
    change_id = default_change_id(1)
    if not isinstance(replacement, str):
        raise MalformedProposalError("replacement must be a string (empty is valid).", change_id)
    return [WholeReplacement(1, change_id, canonical(replacement))]


def _check_intent(intent: object) -> None:
    if not isinstance(intent, str):
        raise MalformedProposalError("intent must be a string.")


def _decode_list(
    name: str,
    items: object,
    decode: Callable[[str, int, dict[str, Any], str], Change],
    earlier: int = 0,
) -> list[Change]:
    if not isinstance(items, list) or not items:
        raise MalformedProposalError(f"{name} must be a non-empty list of objects.")
    changes: list[Change] = []
    for position, item in enumerate(items):
        where, index = f"{name}[{position}]", earlier + position + 1
        changes.append(decode(where, index, item, _change_id(where, index, item)))
    _check_distinct(name, changes)
    return changes


def _check_distinct(name: str, changes: Sequence[Change]) -> None:
    seen: set[str] = set()
    for change in changes:
        if change.change_id in seen:
            raise MalformedProposalError(
                f"{name} has the change_id of change {change.index} twice: change ids must differ,"
                " the default ones by position (chg_001, chg_002) included.",
                change.change_id,
            )
        seen.add(change.change_id)


def _change_id(where: str, index: int, item: object) -> str:
    change_id = default_change_id(index)
    if not isinstance(item, dict):
        raise MalformedProposalError(f"{where} must be an object.", change_id)
    given = item.get("change_id")
    if given is None:
        return change_id
    if not isinstance(given, str) or not CHANGE_ID.fullmatch(given):
        raise MalformedProposalError(
            f"{where}.change_id must be null or 1 to 64 characters of A-Z, a-z, 0-9, '_', '.'"
            " and '-'.",
            change_id,
        )
    return given


def _decode_edit(where: str, index: int, edit: dict[str, Any], change_id: str) -> Match:
    _check_fields(where, edit, MATCH_RULES, change_id)
    return _match(index, edit, change_id)


def _decode_operation(
    where: str, index: int, operation: dict[str, Any], change_id: str
) -> Match | Span:
    match operation.get("op"):
        case "match":
            _check_fields(where, operation, (OP_RULE, *MATCH_RULES), change_id)
            return _match(index, operation, change_id)
        case "span":
            _check_fields(where, operation, (OP_RULE, *SPAN_RULES), change_id)
            if operation["end"] < operation["start"]:
                raise MalformedProposalError(f"{where}.end must not be below start.", change_id)
            return _span(index, operation, change_id)
        case _:
            raise MalformedProposalError(f"{where}.op must be match or span.", change_id)


def _match(index: int, item: dict[str, Any], change_id: str) -> Match:
    return Match(
        index=index,
        change_id=change_id,
        match=canonical(item["match"]),
        replace=canonical(item["replace"]),
        occurrence_index=item.get("occurrence_index"),
        anchor_before=_canonical_or_none(item.get("anchor_before")),
        anchor_after=_canonical_or_none(item.get("anchor_after")),
        submitted_match=item["match"],
    )


def _span(index: int, item: dict[str, Any], change_id: str) -> Span:
    return Span(
        index=index,
        change_id=change_id,
        start=item["start"],
        end=item["end"],
        expected_text=canonical(item["expected_text"]),
        replace=canonical(item["replace"]),
        expected_before=_canonical_or_none(item.get("expected_before")),
        expected_after=_canonical_or_none(item.get("expected_after")),
    )


def _check_fields(where: str, item: dict[str, Any], rules: Sequence[Rule], change_id: str) -> None:
    known = {field for field, _, _ in rules}
    unknown = [name for name in item if name not in known]
    if unknown:
        raise MalformedProposalError(
            f"{where} has a field that it may not have: {ascii(unknown[0])[:80]}.", change_id
        )
    for field, holds, expected in rules:
        if not holds(item.get(field)):
            raise MalformedProposalError(f"{where}.{field} must be {expected}.", change_id)


def _any(_: object) -> bool:
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_filled_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_filled_text_or_null(value: object) -> bool:
    return value is None or _is_filled_text(value)


def _is_risk(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in RISKS)


def _is_occurrence_index(value: object) -> bool:
    return value is None or (type(value) is int and value >= 1)


def _is_offset(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_OFFSET


_OFFSET = f"an integer from 0 to {LARGEST_OFFSET}"

COMMON_RULES: tuple[Rule, ...] = (
    ("change_id", _any, "judged before"),
    ("rationale", _is_text_or_null, "a string or null"),
    ("risk", _is_risk, "low, medium, high or null"),
)
OP_RULE: Rule = ("op", _any, "judged before")
MATCH_RULES: tuple[Rule, ...] = (
    ("match", _is_filled_text, "a non-empty string"),
    ("replace", _is_text, "a string (empty to delete)"),
    *COMMON_RULES,
    ("occurrence_index", _is_occurrence_index, "an integer of at least 1, or null"),
    ("anchor_before", _is_text_or_null, "a string or null"),
    ("anchor_after", _is_text_or_null, "a string or null"),
)
SPAN_RULES: tuple[Rule, ...] = (
    ("start", _is_offset, _OFFSET),
    ("end", _is_offset, _OFFSET),
    ("expected_text", _is_text, "a string (empty for an insertion)"),
    ("replace", _is_text, "a string (empty to delete)"),
    *COMMON_RULES,
    ("expected_before", _is_filled_text_or_null, "a non-empty string or null"),
    ("expected_after", _is_filled_text_or_null, "a non-empty string or null"),
)


def _canonical_or_none(value: str | None) -> str | None:
    return None if value is None else canonical(value)
