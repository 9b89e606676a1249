"""The pending state of a workspace as one frozen list: rows merged by path, with their meaning."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchdiff.plastic import metadata
from patchdiff.plastic.client import Client
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.paths import below, kind_of
from patchdiff.plastic.process import Capture

_EDITED: Final = frozenset({"CH", "CO", "RP"})
_ALONE: Final = {"AD": "added", "PR": "private", "DE": "deleted", "LD": "locally-deleted"}
_MOVES: Final = {"MV": "moved", "LM": "locally-moved"}
_FILES: Final = frozenset({"enTextFile", "enBinaryFile"})


@dataclass(frozen=True)
class Observation:
    """What the status says of one path: relative paths, all its codes, its kinds of revision."""

    path: str
    old_paths: frozenset[str]
    codes: frozenset[str]
    revision_types: frozenset[str]

    @property
    def source_path(self) -> str | None:
        """Where a moved file comes from; None for another one."""
        if not self.codes & _MOVES.keys():
            return None
        return next(iter(self.old_paths), None) if len(self.old_paths) == 1 else None

    def names(self) -> tuple[str, ...]:
        """The paths by which it can be selected."""
        source = self.source_path
        return (self.path,) if source is None else (self.path, source)

    def is_private(self) -> bool:
        """Whether the path is not under control."""
        return "PR" in self.codes

    def is_directory(self, root: Path) -> bool:
        """Whether the row is a directory's; what old clients leave out is looked up physically."""
        if self.revision_types:
            return "enDirectory" in self.revision_types
        return kind_of(root, self.path) == "directory"

    def pending_kind(self) -> str:
        """The state's name in an answer.

        Raises Failure `unsupported_status` or `ambiguous_status`.
        """
        codes = self.codes
        known = _EDITED | _ALONE.keys() | _MOVES.keys()
        # copied, ignored, cloaked, hidden, and what a newer client may have
        if codes - known or codes == {"AD", "LD"}:
            raise Failure("unsupported_status", "status")
        if len(codes) == 1 and codes & _ALONE.keys():
            return _ALONE[next(iter(codes))]
        moves = codes & _MOVES.keys()
        if codes & _ALONE.keys() or len(moves) > 1:
            raise Failure("ambiguous_status", "status")
        if moves:
            if self.source_path in (None, self.path):
                raise Failure("ambiguous_status", "status")
            return _MOVES[next(iter(moves))]
        if "RP" in codes:
            return "replaced"
        return "changed" if "CH" in codes else "checked-out"

    def refuse_other_than_file(self) -> None:
        """Raise Failure `not_regular_file` when the row is a directory's or a link's."""
        if self.revision_types - _FILES:
            raise Failure("not_regular_file", "status")


@dataclass(frozen=True)
class Observations:
    """One status: whose workspace it is, its observations in the client's order, its capture."""

    header: metadata.Status
    rows: tuple[Observation, ...]
    capture: Capture

    def of_file(self, path: str) -> Observation | None:
        """The observation of a path, or else of what was moved from there; None without one.

        Raises Failure `ambiguous_status` when several were moved from there.
        """
        for row in self.rows:
            if row.path == path:
                return row
        moved = [row for row in self.rows if row.source_path == path]
        if len(moved) > 1:
            raise Failure("ambiguous_status", "status")
        return moved[0] if moved else None


def observe(client: Client) -> Observations:
    """Run one status and read it. Raises Failure at the stage status."""
    capture = client.status()
    capture.admit("status")
    header = metadata.status(bytes(capture.stdout))
    if header.changeset < 0:
        raise Failure("unsupported_status", "status")
    merged: dict[str, list[tuple[metadata.Change, str]]] = {}
    for change in header.changes:
        path = _relative(client.workspace, change.path)
        old_path = _relative(client.workspace, change.old_path) if change.old_path else ""
        merged.setdefault(path, []).append((change, old_path))
    rows = tuple(
        Observation(
            path=path,
            old_paths=frozenset(old for _, old in changes if old),
            codes=frozenset().union(*(change.codes for change, _ in changes)),
            revision_types=frozenset(
                change.revision_type for change, _ in changes if change.revision_type
            ),
        )
        for path, changes in merged.items()
    )
    return Observations(header, rows, capture)


def _relative(root: Path, printed: str) -> str:
    """A printed path as a relative one; absolute ones must lie below the root."""
    path = below(root, printed) if printed.startswith("/") else printed
    if path is None or (path and not all(part not in ("", ".", "..") for part in path.split("/"))):
        raise Failure("malformed_metadata", "status")
    return path
