"""Directories of our own, mode 0700: made for one call and removed with everything in them."""

import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

from patchdiff.plastic.failure import Failure


class Staging:
    """One owned directory. `cleanup` is the fate of it, in an envelope's shape."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.chmod(0o700)
        found = path.lstat()
        self._identity = (found.st_dev, found.st_ino)
        self.cleanup = cleanup_state(attempted=False, complete=True)

    def remove(self) -> bool:
        """Remove the directory and all it holds, never through a link; false when that failed."""
        try:
            found = self.path.lstat()
            if (found.st_dev, found.st_ino) != self._identity or not stat.S_ISDIR(found.st_mode):
                raise OSError("the directory was replaced")
            shutil.rmtree(self.path)
        except OSError:
            self.cleanup = cleanup_state(
                attempted=True, complete=False, reason="remove-failed", directory=self.path
            )
            return False
        self.cleanup = cleanup_state(attempted=True, complete=True)
        return True

    def retain(self) -> None:
        """Leave the directory, because a process may still write into it."""
        self.cleanup = cleanup_state(
            attempted=False, complete=False, reason="possibly-running", directory=self.path
        )


def cleanup_state(
    *, attempted: bool, complete: bool, reason: str | None = None, directory: Path | None = None
) -> dict[str, object]:
    """The `cleanup` of an envelope; complete means that nothing owned is left."""
    return {
        "attempted": attempted,
        "complete": complete,
        "retained": directory is not None,
        "reason": reason,
        "recoveryDirectory": None if directory is None else str(directory),
    }


def temporary(workspace: Path, stage: str) -> Staging:
    """A new directory in the system's place for temporary files, outside the workspace.

    Raises Failure `unsafe_path` when that place lies inside it or cannot be written.
    """
    place = Path(tempfile.gettempdir()).resolve()
    if place.is_relative_to(workspace):
        raise Failure("unsafe_path", stage)
    try:
        return Staging(Path(tempfile.mkdtemp(prefix="patchdiff-plastic-", dir=place)))
    except OSError:
        raise Failure("unsafe_path", stage) from None


def sibling(parent: Path) -> Staging:
    """A new directory beside a file to be published; raises OSError when it cannot be made."""
    path = parent / f".patchdiff-{secrets.token_hex(8)}"
    path.mkdir(mode=0o700)
    return Staging(path)


def write_new(path: Path, content: bytes) -> None:
    """Write a new file of mode 0600; raises OSError when something is there already."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
