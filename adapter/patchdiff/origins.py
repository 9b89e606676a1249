"""Where the text of a sequential buffer comes from: the text at transaction start, or an earlier
change.

All offsets are code points. A change is a span ``(start, end, length)``: in the buffer that it saw
it replaced ``[start, end)`` by ``length`` code points.
"""

from __future__ import annotations

from collections.abc import Sequence


class Origins:
    """A sequential buffer as pieces of the original text and of texts that changes produced."""

    def __init__(self, length: int) -> None:
        """A buffer that is still the original text of ``length`` code points."""
        self.pieces: list[tuple[int, int | None]] = [(length, 0)]

    def replace(self, start: int, end: int, length: int) -> list[tuple[int, int]]:
        """Replaces ``[start, end)`` of the buffer by ``length`` produced code points.

        Returns what this removed of the original text, as spans in its coordinates. Where nothing
        was removed and the place lies between two code points that are neighbours in the original
        text, the answer is the empty span between them.
        """
        before: list[tuple[int, int | None]] = []
        after: list[tuple[int, int | None]] = []
        removed: list[tuple[int, int]] = []
        position = 0
        for size, origin in self.pieces:
            piece_end = position + size
            kept_before = min(size, max(0, start - position))
            kept_after = min(size - kept_before, max(0, piece_end - end))
            if kept_before:
                before.append((kept_before, origin))
            if origin is not None and size > kept_before + kept_after:
                removed.append((origin + kept_before, origin + size - kept_after))
            if kept_after:
                after.append((kept_after, None if origin is None else origin + size - kept_after))
            position = piece_end
        if start == end and length and before and after:
            size, origin = before[-1]
            if origin is not None and origin + size == after[0][1]:
                removed.append((origin + size, origin + size))
        produced: list[tuple[int, int | None]] = [(length, None)] if length else []
        self.pieces = before + produced + after
        return removed


def consumed_occurrences(
    spans: Sequence[tuple[int, int, int]], length: int, starts: Sequence[int], size: int
) -> list[int]:
    """For each original occurrence ``[start, start + size)``, the position in ``spans`` of its
    first consumer.

    A change consumes an occurrence when it removes a code point of it or inserts strictly inside
    it. Every occurrence asked for must have been consumed, as it has been when none is left in the
    buffer.
    """
    origins = Origins(length)
    consumers: dict[int, int] = {}
    for position, span in enumerate(spans):
        for removed_start, removed_end in origins.replace(*span):
            for start in starts:
                if removed_start < removed_end:
                    touches = removed_start < start + size and start < removed_end
                else:
                    touches = start < removed_start < start + size
                if touches:
                    consumers.setdefault(start, position)
    return [consumers[start] for start in starts]
