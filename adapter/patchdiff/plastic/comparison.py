"""Two sides and what a comparison of them says."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from patchdiff.plastic import unified
from patchdiff.plastic.client import Client
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import SIDE_BYTES, CaptureLimits
from patchdiff.plastic.ownership import Base
from patchdiff.plastic.paths import Snapshot, UnreadableError, kind_of, read_below
from patchdiff.plastic.process import Capture
from patchdiff.plastic.utf16 import excerpt


@dataclass(frozen=True)
class Side:
    """One side: where it comes from, and its retained bytes."""

    origin: str
    content: bytes
    path: str | None = None
    selector: str | None = None
    base: Base | None = None

    def is_binary(self) -> bool:
        """Whether there is a NUL in it."""
        return b"\0" in self.content

    def is_utf8(self) -> bool:
        """Whether all of it is strict UTF-8."""
        try:
            self.content.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    def as_json(self) -> dict[str, object]:
        """The side of an envelope."""
        return {
            "origin": self.origin,
            "path": self.path,
            "selector": self.selector,
            "identity": None if self.base is None else self.base.as_json(),
            "bytes": len(self.content),
            "sha256": hashlib.sha256(self.content).hexdigest(),
            "utf8": self.is_utf8(),
            "binary": self.is_binary(),
        }


EMPTY_SIDE = Side("synthetic-empty", b"")


def export(
    client: Client, selector: str, directory: Path, name: str, captures: list[Capture]
) -> bytes:
    """The bytes of a revision, written by the client to a new name in an owned directory.

    Raises Failure at the stage export.
    """
    capture = client.export(selector, directory / name)
    captures.append(capture)
    capture.admit("export")
    try:
        return read_below(directory, name, SIDE_BYTES).content
    except UnreadableError as problem:
        code = "export_oversized" if problem.kind == "oversized" else "export_missing"
        raise Failure(code, "export") from None


def snapshot(workspace: Path, path: str, *, observed: bool) -> Snapshot:
    """The local file's bytes; `observed` when the client has just reported that it is there.

    Raises Failure at the stage snapshot.
    """
    codes = {
        "oversized": "local_oversized",
        "unstable": "file_changed",
        "link": "unsafe_path",
        "absent": "file_changed" if observed else "not_regular_file",
    }
    try:
        return read_below(workspace, path, SIDE_BYTES)
    except UnreadableError as problem:
        raise Failure(codes.get(problem.kind, "not_regular_file"), "snapshot") from None


def require_absent(workspace: Path, path: str) -> None:
    """Raise Failure `file_changed` when there is something at a path that was deleted."""
    if kind_of(workspace, path) != "absent":
        raise Failure("file_changed", "snapshot")


@dataclass(frozen=True)
class Comparison:
    """Both sides compared; `text` is the unified diff, None unless they differ as texts."""

    left: Side
    right: Side
    status: str
    exit_code: int | None
    unified: unified.UnifiedDiff | None


def compare(
    left: Side,
    right: Side,
    program: str,
    directory: Path,
    limits: CaptureLimits,
    captures: list[Capture],
) -> Comparison:
    """Compare two sides: texts by one `diff -u`, others by their bytes.

    Raises Failure at the stage compare.
    """
    if not all(side.is_utf8() and not side.is_binary() for side in (left, right)):
        same = left.content == right.content
        return Comparison(
            left, right, "binary-unchanged" if same else "binary-different", None, None
        )
    capture = unified.run_diff(program, left.content, right.content, directory, limits)
    captures.append(capture)
    found = unified.admit(capture, left.content, right.content)
    if found.exit_code == 1:
        return Comparison(left, right, "changed", 1, found)
    status = "unchanged"
    if left.origin == "synthetic-empty":
        status = "added-empty"
    elif right.origin == "synthetic-empty":
        status = "deleted-empty"
    return Comparison(left, right, status, 0, None)


@dataclass
class ComparisonEvidence:
    """A comparison that was reached, with everything an envelope says about it."""

    mode: str
    pending_kind: str | None
    comparison_kind: str
    comparison: Comparison
    captures: list[Capture]
    cleanup: dict[str, object]

    def as_json(self, most_characters: int) -> dict[str, object]:
        """The comparison of an envelope, its excerpt at most `most_characters` long."""
        comparison = self.comparison
        found = comparison.unified
        text = comparison.exit_code is not None
        return {
            "mode": self.mode,
            "pendingKind": self.pending_kind,
            "comparisonKind": self.comparison_kind,
            "status": comparison.status,
            "left": comparison.left.as_json(),
            "right": comparison.right.as_json(),
            "backend": {
                "kind": unified.KIND if text else "byte-equality",
                "exitCode": comparison.exit_code,
            },
            "hunks": 0 if found is None else found.hunks,
            "addedLines": 0 if found is None else found.added_lines,
            "removedLines": 0 if found is None else found.removed_lines,
            "noNewlineMarkers": 0 if found is None else found.no_newline_markers,
            "excerpt": None if found is None else excerpt(found.text, most_characters),
            "captures": [capture.as_json() for capture in self.captures],
            "cleanup": self.cleanup,
        }
