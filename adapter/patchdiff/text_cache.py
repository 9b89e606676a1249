"""The texts of targets seen lately, so that a submission on one needs a single call of the
database."""

from __future__ import annotations

from collections import OrderedDict

from patchdiff.database import Base

MAXIMUM_CODE_POINTS = 16_000_000
LOCKED_AFTER_STALE = 20


class TextCache:
    """A bounded store of bases by target id, the least recently used dropped first.

    A base names its version and hash, and every writer checks both under the target's lock: a stale
    text is never used, it only costs a call. A target whose base was found stale is contended: its
    next twenty submissions go without.
    """

    def __init__(self, maximum_code_points: int = MAXIMUM_CODE_POINTS) -> None:
        """``maximum_code_points`` bounds the texts together; a single longer one is not kept."""
        self._maximum = maximum_code_points
        self._size = 0
        self._bases: OrderedDict[str, Base] = OrderedDict()
        self._contended: dict[str, int] = {}

    def get(self, target_file_id: str) -> Base | None:
        """The base held for a target, or None when there is none or it should not be tried."""
        waiting = self._contended.get(target_file_id, 0)
        if waiting:
            self._contended[target_file_id] = waiting - 1
            return None
        self._contended.pop(target_file_id, None)
        base = self._bases.get(target_file_id)
        if base is not None:
            self._bases.move_to_end(target_file_id)
        return base

    def put(self, target_file_id: str, base: Base) -> None:
        """Holds ``base`` as the newest of its target."""
        self._drop(target_file_id)
        if len(base.text) > self._maximum:
            return
        self._bases[target_file_id] = base
        self._size += len(base.text)
        while self._size > self._maximum:
            self._drop(next(iter(self._bases)))

    def found_stale(self, target_file_id: str) -> None:
        """Forgets a target's base, because somebody else has moved the target."""
        self._drop(target_file_id)
        self._contended[target_file_id] = LOCKED_AFTER_STALE
        while len(self._contended) > len(self._bases) + 1_000:
            del self._contended[next(iter(self._contended))]

    def _drop(self, target_file_id: str) -> None:
        base = self._bases.pop(target_file_id, None)
        if base is not None:
            self._size -= len(base.text)
