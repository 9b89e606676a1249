"""The text comparison: one `diff -u`, admitted only as a complete unified diff of both sides.

The only module that knows the backend: its arguments, its exits and its output. GNU diff and any
other that prints the same with exits 0 and 1 will do. Variants of the marker for a missing final
newline other than the English one are refused.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchdiff.plastic.client import executable
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import CaptureLimits
from patchdiff.plastic.process import Capture, Command, run
from patchdiff.plastic.staging import write_new

KIND: Final = "gnu-diff"
NO_NEWLINE: Final = b"\\ No newline at end of file"

_LEFT_HEADER: Final = re.compile(rb"--- left(\t[^\n]*)?")
_RIGHT_HEADER: Final = re.compile(rb"\+\+\+ right(\t[^\n]*)?")
_HUNK: Final = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(frozen=True)
class UnifiedDiff:
    """An admitted comparison: the hunks behind headers without times, and what they hold."""

    exit_code: int
    text: str
    hunks: int
    added_lines: int
    removed_lines: int
    no_newline_markers: int


def run_diff(
    program: str, left: bytes, right: bytes, directory: Path, limits: CaptureLimits
) -> Capture:
    """Compare two texts, written to an owned directory under fixed names, by one `diff -u`."""
    write_new(directory / "left", left)
    write_new(directory / "right", right)
    arguments = ["-u", "left", "right"]
    command = Command(
        name="diff",
        arguments=[executable(program), *arguments],
        shown=["diff", *arguments],
        directory=directory,
        limits=limits,
        variables={"LC_ALL": "C"},
    )
    return run(command)


def admit(capture: Capture, left: bytes, right: bytes) -> UnifiedDiff:
    """The comparison that a `diff -u` printed.

    Exit 0 must come with no output and equal sides, exit 1 with hunks that turn the left side into
    the right one byte by byte. Raises Failure at the stage compare.
    """
    capture.admit("compare", exits=(0, 1))
    assert capture.exit_code is not None
    output = bytes(capture.stdout)
    if capture.exit_code == 0:
        if output or left != right:
            raise Failure("diff_malformed", "compare")
        return UnifiedDiff(0, "", 0, 0, 0, 0)
    try:
        output.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure("invalid_encoding", "compare") from None
    try:
        reading = _Reading(output, left)
        if left == right or reading.result() != right:
            raise ValueError("the hunks lead to another text")
    except ValueError:
        raise Failure("diff_malformed", "compare") from None
    body = output.split(b"\n", 2)[2]
    return UnifiedDiff(
        exit_code=1,
        text=(b"--- left\n+++ right\n" + body).decode("utf-8"),
        hunks=reading.hunks,
        added_lines=reading.added,
        removed_lines=reading.removed,
        no_newline_markers=reading.markers,
    )


class _Reading:
    """One strict reading of a unified diff, applied to the left side as it goes."""

    def __init__(self, output: bytes, left: bytes) -> None:
        if not output.endswith(b"\n"):
            raise ValueError("the last line is not complete")
        self._lines = output[:-1].split(b"\n")
        # what follows the last newline is a line of its own only when it is not empty
        self._left = left.split(b"\n")
        self._left_count = len(self._left) - (not self._left[-1])
        self._position = 0
        self._right: list[bytes] = []
        self._right_is_open = False
        self.hunks = self.added = self.removed = self.markers = 0

    def result(self) -> bytes:
        """The right side; raises ValueError where the diff is not consistent."""
        lines = self._lines
        if len(lines) < 3 or not _LEFT_HEADER.fullmatch(lines[0]):
            raise ValueError("no header")
        if not _RIGHT_HEADER.fullmatch(lines[1]):
            raise ValueError("no header")
        index = 2
        while index < len(lines):
            index = self._hunk(index)
        self._copy_until(self._left_count)
        return b"\n".join(self._right) + (b"" if self._right_is_open or not self._right else b"\n")

    def _copy_until(self, position: int) -> None:
        if not self._position <= position <= self._left_count:
            raise ValueError("a hunk out of order")
        if position > self._position:
            self._extend(self._left[self._position : position], self._is_ended(position - 1))
        self._position = position

    def _extend(self, lines: list[bytes], ended: bool) -> None:
        if self._right_is_open:
            raise ValueError("a line after one without a newline")
        self._right += lines
        self._right_is_open = not ended

    def _is_ended(self, position: int) -> bool:
        return position < len(self._left) - 1

    def _hunk(self, index: int) -> int:
        header = _HUNK.fullmatch(self._lines[index])
        if header is None:
            raise ValueError("no hunk")
        left_start, left_count, right_start, right_count = (
            1 if number is None else int(number) for number in header.groups()
        )
        self._copy_until(left_start - 1 if left_count else left_start)
        if len(self._right) != (right_start - 1 if right_count else right_start):
            raise ValueError("a hunk at another place of the right side")
        self.hunks += 1
        index += 1
        changed = 0
        while left_count or right_count:
            sign, content, ended, index = self._line(index)
            if sign != b"+":
                left_count -= 1
                self._take(content, ended)
            if sign != b"-":
                right_count -= 1
                self._extend([content], ended)
            changed += sign != b" "
            self.removed += sign == b"-"
            self.added += sign == b"+"
            if left_count < 0 or right_count < 0:
                raise ValueError("more lines than counted")
        if not changed:
            raise ValueError("a hunk without a change")
        return index

    def _line(self, index: int) -> tuple[bytes, bytes, bool, int]:
        if index >= len(self._lines):
            raise ValueError("fewer lines than counted")
        line = self._lines[index]
        sign = line[:1]
        if sign not in (b" ", b"-", b"+"):
            raise ValueError("no line of a hunk")
        index += 1
        ended = True
        if index < len(self._lines) and self._lines[index].startswith(b"\\"):
            if self._lines[index] != NO_NEWLINE:
                raise ValueError("another marker")
            ended = False
            self.markers += 1
            index += 1
        return sign, line[1:], ended, index

    def _take(self, content: bytes, ended: bool) -> None:
        position = self._position
        if position >= self._left_count or self._left[position] != content:
            raise ValueError("the left side has another line there")
        if self._is_ended(position) is not ended:
            raise ValueError("the left side's line ends in another way")
        self._position += 1
