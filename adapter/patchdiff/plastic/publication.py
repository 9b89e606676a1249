"""A generated patch: observed once, and linked to its output without ever replacing anything."""

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import SIDE_BYTES
from patchdiff.plastic.paths import Snapshot, UnreadableError, below, is_the_clients, read_below
from patchdiff.plastic.staging import Staging, sibling
from patchdiff.plastic.utf16 import excerpt, units

ARTIFACT = "patch"
"""The name of a patch in its owned directory."""


class Output:
    """Where a patch is to be published. `state` and `same_inode` tell how far that came."""

    def __init__(self, requested: str) -> None:
        self.path = Path(requested)
        self.state = "not-attempted"
        self.same_inode: bool | None = None

    def as_json(self) -> dict[str, object]:
        """The `publication` of an envelope."""
        return {
            "state": self.state,
            "path": str(self.path),
            "method": "exclusive-hard-link",
            "sameInode": self.same_inode,
        }

    def stage(self, root: Path) -> Staging:
        """Make an owned directory beside the output, which must not exist.

        A relative output lies below the workspace's root. Raises Failure `output_invalid` or
        `output_exists`.
        """
        try:
            return self._stage(root)
        except OSError:
            self.state = "refused"
            raise Failure("output_invalid", "stage") from None
        except Failure:
            self.state = "refused"
            raise

    def _stage(self, root: Path) -> Staging:
        path = root / self.path
        if path.name in ("", ".."):
            raise Failure("output_invalid", "stage")
        path = path.parent.resolve(strict=True) / path.name
        inside = below(root, str(path))
        if inside is not None and (not inside or is_the_clients(inside)):
            raise Failure("output_invalid", "stage")
        self.path = path
        if os.path.lexists(path):
            raise Failure("output_exists", "stage")
        return sibling(path.parent)

    def publish(self, staging: Staging, observed: Snapshot) -> None:
        """Link the observed artifact to the output, which must still not exist.

        Raises Failure `output_exists`, `artifact_unstable` or `publication_failed`.
        """
        staged = staging.path / ARTIFACT
        try:
            found = staged.lstat()
        except OSError:
            raise Failure("artifact_unstable", "publish") from None
        current = (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if (found.st_dev, found.st_ino) != observed.identity or current != observed.state:
            raise Failure("artifact_unstable", "publish")
        try:
            self._link(staged, observed)
        except FileExistsError:
            self.state = "refused"
            raise Failure("output_exists", "publish") from None
        except OSError:
            if self.state != "published":
                self.state = "failed"
            raise Failure("publication_failed", "publish") from None

    def _link(self, staged: Path, observed: Snapshot) -> None:
        directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _sync(staged)
            os.link(staged, self.path.name, dst_dir_fd=directory, follow_symlinks=False)
            found = os.lstat(self.path.name, dir_fd=directory)
            self.same_inode = (found.st_dev, found.st_ino) == observed.identity
            if not self.same_inode or (found.st_size, found.st_mtime_ns) != observed.state[:2]:
                self.same_inode = False
                raise OSError("another file was linked")
            self.state = "published"
            os.fsync(directory)
        finally:
            os.close(directory)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def observe(staging: Staging) -> Snapshot:
    """Read the artifact once. Raises Failure at the stage observe."""
    codes = {"absent": "artifact_missing", "oversized": "artifact_oversized"}
    try:
        return read_below(staging.path, ARTIFACT, SIDE_BYTES)
    except UnreadableError as problem:
        raise Failure(codes.get(problem.kind, "artifact_unstable"), "observe") from None


def artifact(content: bytes, most_characters: int) -> dict[str, Any]:
    """The `artifact` of an envelope."""
    found: dict[str, Any] = {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        nothing = dict.fromkeys(("utf8Characters", "utf16Units", "lines", "excerpt"))
        return {**found, "encoding": "opaque", **nothing}
    return {
        **found,
        "encoding": "utf-8",
        "utf8Characters": len(text),
        "utf16Units": units(text),
        "lines": text.count("\n") + (not text.endswith("\n") and text != ""),
        "excerpt": excerpt(text, most_characters),
    }


def is_executable(path: str) -> bool:
    """Whether there is a regular file at a path that may be executed."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False
