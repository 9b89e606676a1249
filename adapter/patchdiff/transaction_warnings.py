"""The warnings of an accepted transaction: advisory, never a verdict.

The contract's section "Accepted responses, current state and warnings" has the four codes. All
offsets are code points.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any, Protocol

from patchdiff.graphemes import splits_cluster
from patchdiff.search import occurrences

JsonObject = dict[str, Any]

LISTED_WARNINGS = 16

_MOST_KEPT_STARTS = 1_000_000
"""How many places of original occurrences are kept for later changes that match the same text."""


class Change(Protocol):
    """A change of any format. One that selects by an index also has ``occurrence_index``."""

    @property
    def index(self) -> int: ...
    @property
    def change_id(self) -> str: ...
    @property
    def replace(self) -> str: ...


class Applied(Protocol):
    """A change that found its place: what it matched there, the empty text for an insertion."""

    @property
    def change(self) -> Change: ...
    @property
    def start(self) -> int: ...
    @property
    def matched(self) -> str: ...


class TransactionWarnings:
    """Collects the warnings of one transaction while its changes apply in order.

    They come by change, and within a change as no_op_change, occurrence_index_basis_shift and the
    boundaries that split a grapheme cluster; no_op_transaction is the last one.
    """

    def __init__(self, text: str, before: str = "", after: str = "") -> None:
        """``text`` is the canonical text at transaction start.

        Where it is a part of a target, ``before`` and ``after`` are what stands beside it.
        """
        self._text = text
        self._before, self._after = before, after
        self._details: list[JsonObject] = []
        self._count = 0
        self._original = _OriginalText(len(text))
        self._unmapped: list[tuple[int, int, int]] = []
        self._any_earlier = False
        self._starts: dict[str, list[int]] = {}
        self._kept_starts = 0

    def note(self, buffer: str, applied: Applied) -> None:
        """Judges a change before it is applied; ``buffer`` is the text that it saw."""
        change, start, matched = applied.change, applied.start, applied.matched
        end = start + len(matched)
        if matched == change.replace:
            self._add_for(
                change, "no_op_change", "The matched text equals its replacement: nothing changes."
            )
        index = getattr(change, "occurrence_index", None)
        if index is not None and self._any_earlier:
            self._note_basis(change, index, matched, start, end)
        context, shift = buffer, len(self._before)
        if self._before or self._after:
            context = self._before + buffer + self._after
        for boundary, offset in (
            (("start", start), ("end", end)) if matched else (("insertion", start),)
        ):
            if splits_cluster(context, shift + offset):
                self._add_for(
                    change,
                    "grapheme_boundary_split",
                    f"The {boundary} boundary at code point {offset} of the text that this change"
                    " saw falls inside a likely grapheme cluster, between"
                    f" U+{ord(context[shift + offset - 1]):04X} and"
                    f" U+{ord(context[shift + offset]):04X}. Offsets"
                    " count code points, not UTF-16 units.",
                    boundary=boundary,
                    offset=offset,
                )
        self._unmapped.append((start, end, len(change.replace)))
        self._any_earlier = True

    def take(self, part: TransactionWarnings) -> None:
        """Adds what was noted of a part of the transaction, which is not finished by itself."""
        room = LISTED_WARNINGS - len(self._details)
        self._details += part._details[:room]
        self._count += part._count

    def finish(self, after: str) -> JsonObject | None:
        """The diagnostic to store with the accepted row; None without warnings.

        ``after`` is the text that the transaction leaves. The fields are warnings (at most 16
        objects), warning_count (of all) and warnings_truncated.
        """
        if after == self._text:
            self._add(
                "no_op_transaction",
                "The transaction leaves the text unchanged while the version still advances: a hash"
                " guard cannot detect that, a version guard does.",
            )
        if not self._count:
            return None
        return {
            "warnings": self._details,
            "warning_count": self._count,
            "warnings_truncated": self._count > len(self._details),
        }

    def _note_basis(self, change: Change, index: int, matched: str, start: int, end: int) -> None:
        original_index = self._original_index(matched, start, end)
        if original_index == index:
            return
        if original_index is None:
            basis = "text that earlier changes of this transaction produced or joined"
        else:
            basis = f"the occurrence that had index {original_index} at transaction start"
        self._add_for(
            change,
            "occurrence_index_basis_shift",
            f"occurrence_index {index} selected {basis}. Selectors count the text that the earlier"
            " changes left.",
            occurrence_index=index,
            transaction_start_occurrence_index=original_index,
        )

    def _original_index(self, matched: str, start: int, end: int) -> int | None:
        """The index that the selected occurrence had at transaction start, if it was one then."""
        for span in self._unmapped:
            self._original.replace(*span)
        self._unmapped.clear()
        origin = self._original.locate(start, end)
        if origin is None:
            return None
        starts = self._starts.get(matched)
        if starts is None:
            starts = occurrences(self._text, matched)
            self._kept_starts += len(starts)
            if self._kept_starts > _MOST_KEPT_STARTS:
                self._starts.clear()
                self._kept_starts = len(starts)
            self._starts[matched] = starts
        return bisect_right(starts, origin)

    def _add_for(self, change: Change, code: str, detail: str, **fields: object) -> None:
        self._add(code, detail, change_id=change.change_id, change_index=change.index, **fields)

    def _add(self, code: str, detail: str, **fields: object) -> None:
        self._count += 1
        if len(self._details) < LISTED_WARNINGS:
            self._details.append({"code": code, "detail": detail, **fields})


class _OriginalText:
    """Where a sequential buffer still holds the text at transaction start.

    It does so in ascending segments: one begins at ``starts`` in the buffer and at ``origins`` in
    the original text and has ``sizes`` code points. What lies between them was produced. Segments
    that meet in both texts are one.
    """

    def __init__(self, length: int) -> None:
        self._starts = [0]
        self._origins = [0]
        self._sizes = [length]

    def replace(self, start: int, end: int, length: int) -> None:
        """Replaces ``[start, end)`` of the buffer by ``length`` produced code points."""
        starts, origins, sizes = self._starts, self._origins, self._sizes
        first = bisect_right(starts, start) - 1
        if first < 0 or starts[first] + sizes[first] <= start:
            first += 1
        last = bisect_left(starts, end, first)
        kept: list[tuple[int, int, int]] = []
        if first < last:
            head, origin = starts[first], origins[first]
            if head < start:
                kept.append((head, origin, start - head))
            tail, origin, size = starts[last - 1], origins[last - 1], sizes[last - 1]
            if tail + size > end:
                kept.append((start + length, origin + end - tail, tail + size - end))
        shift = length - (end - start)
        if shift:
            starts[last:] = [place + shift for place in starts[last:]]
        starts[first:last] = [place for place, _, _ in kept]
        origins[first:last] = [origin for _, origin, _ in kept]
        sizes[first:last] = [size for _, _, size in kept]
        if not length:
            self._join(start)

    def locate(self, start: int, end: int) -> int | None:
        """Where ``[start, end)`` of the buffer begins in the original text; None when it is not
        one stretch of that."""
        segment = bisect_right(self._starts, start) - 1
        if segment < 0 or end > self._starts[segment] + self._sizes[segment]:
            return None
        return self._origins[segment] + start - self._starts[segment]

    def _join(self, place: int) -> None:
        """Makes one segment of two that meet at ``place`` as they do in the original text."""
        starts, origins, sizes = self._starts, self._origins, self._sizes
        right = bisect_left(starts, place)
        left = right - 1
        if (
            0 < right < len(starts)
            and starts[right] == starts[left] + sizes[left]
            and origins[right] == origins[left] + sizes[left]
        ):
            sizes[left] += sizes[right]
            del starts[right], origins[right], sizes[right]
