"""The scope that an observed submission may not leave (contract,
"patchdiff_submit_observed_operations")."""

from __future__ import annotations

from dataclasses import dataclass

from patchdiff.records import Match, Span

OUTSIDE = "OPERATION_OUTSIDE_OBSERVED_SCOPE"
GUARDS_REQUIRED = "OBSERVED_INSERTION_GUARDS_REQUIRED"


@dataclass(eq=False)
class OutsideScopeError(Exception):
    """A change that its scope does not allow: the reason, a stable code, a sentence, where it is
    in the buffer, and which check failed."""

    reason: str
    code: str
    detail: str
    location: int
    check: str = "bounds"


@dataclass(slots=True)
class Scope:
    """``[start, end)`` in code points of the sequential buffer; the end moves with each change."""

    start: int
    end: int

    def check_span(self, span: Span) -> None:
        """Raises OutsideScopeError for a span, or text expected beside it, that leaves the scope.

        An insertion needs a place strictly inside and text expected on both sides.
        """
        insertion = span.start == span.end
        if (
            not (self.start < span.start < self.end)
            if insertion
            else span.start < self.start or span.end > self.end
        ):
            raise self._outside("The span", span.start)
        if insertion and not (span.expected_before and span.expected_after):
            raise OutsideScopeError(
                "span_expected_text_mismatch",
                GUARDS_REQUIRED,
                "An insertion inside an observed scope requires expected_before and"
                " expected_after.",
                span.start,
                "expected_after" if span.expected_before else "expected_before",
            )
        before, after = span.expected_before or "", span.expected_after or ""
        if span.start - len(before) < self.start or span.end + len(after) > self.end:
            raise self._outside("Text that the span expects beside it", span.start)

    def check_match(self, match: Match, start: int) -> None:
        """Raises OutsideScopeError for a match whose place ``start`` does not lie in the scope."""
        if start < self.start or start + len(match.match) > self.end:
            raise self._outside("The matched text", start)

    def moved_by(self, code_points: int) -> None:
        """Moves the end after a change that made the text so much longer."""
        self.end += code_points

    def _outside(self, what: str, location: int) -> OutsideScopeError:
        return OutsideScopeError(
            "span_out_of_bounds",
            OUTSIDE,
            f"{what} does not lie inside the observed scope, now [{self.start}, {self.end}).",
            location,
        )
