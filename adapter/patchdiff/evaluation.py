"""Applies the changes of a transaction to a text, over code points: pure, and atomic by raising.

Changes apply in order, each to the buffer that the earlier ones left (contract, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from patchdiff.origins import consumed_occurrences
from patchdiff.records import Match
from patchdiff.search import occurrences


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """A change that found its place: ``start`` in code points and in UTF-8 bytes of the buffer
    that it saw."""

    change: Match
    start: int
    byte_start: int
    matched: str

    @property
    def end(self) -> int:
        """The code point after the matched text, in the buffer that the change saw."""
        return self.start + len(self.matched)


@dataclass(frozen=True, slots=True)
class Result:
    """The text that a transaction makes, and where each of its changes applied."""

    text: str
    applied: list[AppliedChange]


@dataclass(eq=False)
class NotApplicableError(Exception):
    """A change that does not apply; nothing of its transaction does.

    ``buffer`` is the text that the change saw after ``prior_changes`` simulated ones. ``location``
    is the code point where the failure is known to be, or None. ``candidates`` are the starts of
    all exact occurrences of the match where several matter; ``details`` are further diagnostic
    fields.
    """

    reason: str
    detail: str
    change: Match
    buffer: str
    prior_changes: int
    location: int | None = None
    candidates: list[int] | None = None
    details: dict[str, object] = field(default_factory=dict)


def evaluate(text: str, changes: Sequence[Match]) -> Result:
    """Applies ``changes`` to the canonical ``text`` and returns the result.

    Raises NotApplicableError at the first change that does not apply, with reason match_absent,
    match_ambiguous, disambiguation_invalid or sequential_match_invalid.
    """
    buffer = text
    applied: list[AppliedChange] = []
    for change in changes:
        start = _place(text, buffer, change, applied)
        end = start + len(change.match)
        byte_start = start if buffer.isascii() else len(buffer[:start].encode())
        applied.append(AppliedChange(change, start, byte_start, change.match))
        buffer = buffer[:start] + change.replace + buffer[end:]
    return Result(buffer, applied)


def _place(text: str, buffer: str, change: Match, applied: Sequence[AppliedChange]) -> int:
    starts = occurrences(buffer, change.match)
    if not starts:
        raise _missing(text, buffer, change, applied)
    eligible = _eligible(buffer, change, starts)
    if len(eligible) == 1:
        return eligible[0]
    if eligible:
        reason = "match_ambiguous"
        detail = "MATCH text appears multiple times without disambiguation."
    else:
        reason = "disambiguation_invalid"
        detail = "No occurrence of the MATCH text satisfies every given selector."
    if applied:
        detail += (
            f" Selectors count the sequential buffer after {len(applied)} simulated"
            f" change{'s' if len(applied) > 1 else ''} of this transaction."
        )
    raise NotApplicableError(
        reason,
        detail,
        change,
        buffer,
        len(applied),
        location=starts[0],
        candidates=starts,
        details={"occurrence_count": len(starts)},
    )


def _eligible(buffer: str, change: Match, starts: list[int]) -> list[int]:
    """The occurrences for which every given selector holds. Anchors hold anywhere before or
    after the match."""
    if change.occurrence_index is not None:
        starts = starts[change.occurrence_index - 1 : change.occurrence_index]
    if change.anchor_before is not None:
        found = buffer.find(change.anchor_before)
        first = found + len(change.anchor_before)
        starts = [start for start in starts if start >= first] if found >= 0 else []
    if change.anchor_after is not None:
        last = buffer.rfind(change.anchor_after)
        starts = [start for start in starts if start + len(change.match) <= last]
    return starts


def _missing(
    text: str, buffer: str, change: Match, applied: Sequence[AppliedChange]
) -> NotApplicableError:
    originals = occurrences(text, change.match) if applied else []
    if not originals:
        return NotApplicableError(
            "match_absent",
            "MATCH text does not occur in the text that this change sees.",
            change,
            buffer,
            len(applied),
        )
    spans = [(item.start, item.end, len(item.change.replace)) for item in applied]
    consumed = consumed_occurrences(spans, len(text), originals[:5], len(change.match))
    return NotApplicableError(
        "sequential_match_invalid",
        "MATCH text was consumed by earlier change in this transaction.",
        change,
        buffer,
        len(applied),
        details={
            "original_occurrence_count": len(originals),
            "original_occurrences": [
                {
                    "start": start,
                    "end": start + len(change.match),
                    "consumed_by_change_id": applied[consumer].change.change_id,
                    "consumed_by_change_index": applied[consumer].change.index,
                }
                for start, consumer in zip(originals, consumed, strict=False)
            ],
        },
    )
