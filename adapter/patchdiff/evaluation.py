"""Applies the changes of a transaction to a text, over code points: pure, and atomic by raising.

Changes apply in order, each to the buffer that the earlier ones left (contract, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from patchdiff.origins import consumed_occurrences
from patchdiff.records import Change, Match, Span, WholeReplacement
from patchdiff.scope import OutsideScopeError, Scope
from patchdiff.search import occurrences
from patchdiff.text import sha256_hex
from patchdiff.transaction_warnings import TransactionWarnings

JsonObject = dict[str, object]

ACTUAL_TEXT_CODE_POINTS = 64


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """A change that found its place.

    ``start`` is in code points of the buffer that it saw, ``byte_start`` the same in UTF-8 bytes.
    """

    change: Change
    start: int
    byte_start: int
    matched: str

    @property
    def end(self) -> int:
        """The code point after the matched text, in the buffer that the change saw."""
        return self.start + len(self.matched)


@dataclass(frozen=True, slots=True)
class Result:
    """The text that a transaction makes, where each change applied, and the warnings to store.

    ``warnings`` is None, or the diagnostic of an accepted row that has some.
    """

    text: str
    applied: list[AppliedChange]
    warnings: JsonObject | None


@dataclass(eq=False)
class NotApplicableError(Exception):
    """A change that does not apply; nothing of its transaction does.

    ``buffer`` is the text that the change saw after ``prior_changes`` simulated ones, or in a batch
    its scope alone (``in_scope``). ``location``
    is the code point where the failure is known to be, or None. ``candidates`` are the starts of
    all exact occurrences of the match where several matter; ``details`` are further diagnostic
    fields.
    """

    reason: str
    detail: str
    change: Change
    buffer: str
    prior_changes: int
    location: int | None = None
    candidates: list[int] | None = None
    details: JsonObject = field(default_factory=dict)
    in_scope: bool = False


def evaluate(text: str, changes: Sequence[Change], scope: Scope | None = None) -> Result:
    """Applies ``changes`` to the canonical ``text``, none outside ``scope``, and returns the
    result.

    Raises NotApplicableError at the first change that does not apply, with reason match_absent,
    match_ambiguous, disambiguation_invalid, sequential_match_invalid, span_out_of_bounds or
    span_expected_text_mismatch.
    """
    warnings = TransactionWarnings(text)
    result, applied = apply(text, changes, warnings.note, scope)
    return Result(result, applied, warnings.finish(result))


def apply(
    text: str,
    changes: Sequence[Change],
    note: Callable[[str, AppliedChange], None] | None = None,
    scope: Scope | None = None,
) -> tuple[str, list[AppliedChange]]:
    """The text that ``changes`` make of ``text``, and where each applied; raises as ``evaluate``.

    ``note`` is told of each change with the buffer that it saw. ``scope`` is moved along.
    """
    buffer = text
    applied: list[AppliedChange] = []
    for change in changes:
        try:
            start, matched = _located(text, buffer, change, applied, scope)
        except OutsideScopeError as outside:
            raise NotApplicableError(
                outside.reason,
                outside.detail,
                change,
                buffer,
                len(applied),
                location=min(outside.location, len(buffer)),
                details={
                    "code": outside.code,
                    "span_check": outside.check,
                    "buffer_length": len(buffer),
                },
            ) from None
        byte_start = start if buffer.isascii() else len(buffer[:start].encode())
        applied.append(AppliedChange(change, start, byte_start, matched))
        if note is not None:
            note(buffer, applied[-1])
        buffer = buffer[:start] + change.replace + buffer[start + len(matched) :]
        if scope is not None:
            scope.moved_by(len(change.replace) - len(matched))
    return buffer, applied


def fact(applied: AppliedChange) -> JsonObject:
    """The derived fact of one applied change: what the ledger keeps and the answer shows."""
    operation: JsonObject = {}
    if not isinstance(applied.change, Match):
        is_span = isinstance(applied.change, Span)
        operation = {"operation": "span" if is_span else "replace_all"}
    return {
        "change_id": applied.change.change_id,
        "change_index": applied.change.index,
        **operation,
        "span_start": applied.start,
        "span_end": applied.end,
        "matched_chars": len(applied.matched),
        "replacement_chars": len(applied.change.replace),
        "matched_sha256": sha256_hex(applied.matched),
        "replacement_sha256": sha256_hex(applied.change.replace),
    }


def _located(
    text: str, buffer: str, change: Change, applied: Sequence[AppliedChange], scope: Scope | None
) -> tuple[int, str]:
    """Where a change applies in the buffer, and what it matches there."""
    match change:
        case Match():
            start = _place(text, buffer, change, applied)
            if scope is not None:
                scope.check_match(change, start)
            return start, change.match
        case Span():
            if scope is not None:
                scope.check_span(change)
            _check_span(buffer, change, len(applied))
            return change.start, change.expected_text
        case WholeReplacement():
            return 0, buffer


def _check_span(buffer: str, span: Span, prior_changes: int) -> None:
    """Checks bounds, the covered text, and the texts directly before and after, in this order."""
    if span.end > len(buffer):
        raise NotApplicableError(
            "span_out_of_bounds",
            f"The span [{span.start}, {span.end}) does not lie in the text of {len(buffer)}"
            " code points that this change sees.",
            span,
            buffer,
            prior_changes,
            location=len(buffer),
            details={"span_check": "bounds", "buffer_length": len(buffer)},
        )
    before = span.expected_before or ""
    after = span.expected_after or ""
    checks = (
        ("expected_text", span.expected_text, buffer[span.start : span.end], span.start),
        (
            "expected_before",
            before,
            buffer[max(0, span.start - len(before)) : span.start],
            span.start,
        ),
        ("expected_after", after, buffer[span.end : span.end + len(after)], span.end),
    )
    for check, expected, actual, location in checks:
        if actual == expected:
            continue
        nearest = slice(-ACTUAL_TEXT_CODE_POINTS, None)
        if check != "expected_before":
            nearest = slice(ACTUAL_TEXT_CODE_POINTS)
        raise NotApplicableError(
            "span_expected_text_mismatch",
            f"The text of the span's {check} is not what stands there.",
            span,
            buffer,
            prior_changes,
            location=location,
            details={
                "span_check": check,
                "buffer_length": len(buffer),
                "actual_text": actual[nearest],
                "actual_text_truncated": len(actual) > ACTUAL_TEXT_CODE_POINTS,
                "expected_chars": len(expected),
                "actual_chars": len(actual),
            },
        )


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
    """The occurrences for which every given selector holds; anchors hold anywhere beside them."""
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
