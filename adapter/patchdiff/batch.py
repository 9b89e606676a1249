"""Evaluates a batch: each group inside its own scope, as if that were a text by itself.

Scopes of a bundle do not overlap, so that no group moves what another sees, and the order of groups
does not matter (contract, "patchdiff_submit_observed_operations").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from patchdiff.evaluation import AppliedChange, NotApplicableError, Result, apply
from patchdiff.records import Change
from patchdiff.scope import Scope
from patchdiff.transaction_warnings import TransactionWarnings

SURROUNDINGS = 64
"""How many code points beside a scope are looked at for boundaries inside a grapheme cluster."""


@dataclass(frozen=True, slots=True)
class Group:
    """The changes of one receipt, and its scope in code points of the target's text.

    Spans count from the scope's start.
    """

    observation_id: str
    start: int
    end: int
    changes: Sequence[Change]


def evaluate_batch(text: str, groups: Sequence[Group]) -> Result:
    """Applies every group to its scope of the canonical ``text`` and returns the whole result.

    The applied changes are in the order of the groups, their places counted from the text's start.
    Raises NotApplicableError for the first change that does not apply, with offsets and buffer of
    its own scope.
    """
    warnings = TransactionWarnings(text)
    result, applied = apply_batch(text, groups, warnings)
    return Result(result, applied, warnings.finish(result))


def apply_batch(
    text: str, groups: Sequence[Group], warnings: TransactionWarnings | None = None
) -> tuple[str, list[AppliedChange]]:
    """The text that the groups make of ``text``, and where each change applied; raises as
    ``evaluate_batch``.

    ``warnings`` takes what is to be said of the groups' changes.
    """
    applied: list[AppliedChange] = []
    parts: list[tuple[Group, str]] = []
    for number, group in enumerate(groups):
        inside = text[group.start : group.end]
        noted = TransactionWarnings(
            inside,
            text[max(0, group.start - SURROUNDINGS) : group.start],
            text[group.end : group.end + SURROUNDINGS],
        )
        try:
            part, changes = apply(
                inside,
                group.changes,
                None if warnings is None else noted.note,
                Scope(0, len(inside)),
            )
        except NotApplicableError as problem:
            problem.in_scope = True
            problem.details |= {"group_index": number, "observation_id": group.observation_id}
            raise
        bytes_before = len(text[: group.start].encode())
        applied += [
            AppliedChange(
                item.change,
                group.start + item.start,
                bytes_before + item.byte_start,
                item.matched,
            )
            for item in changes
        ]
        parts.append((group, part))
        if warnings is not None:
            warnings.take(noted)
    for group, part in sorted(parts, key=lambda item: item[0].start, reverse=True):
        text = text[: group.start] + part + text[group.end :]
    return text, applied
