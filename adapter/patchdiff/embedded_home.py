"""The embedded server's directory: its files, its locks and the way to its socket.

    home/             0700, of the user who runs PatchDIFF
      .mutex          locked while the server is started or stopped
      .users          locked, shared, by every process that uses the server, for as long as it lives
      .server         locked by the server itself, so the kernel knows whether one lives
      data/           the data directory, with the socket in it; of the account that runs the server
      .init-*         a data directory in the making
      postgresql.log  what the server says; the part before it in postgresql.log.1

All locks are flock(2) locks: the kernel drops them with the last process that has them open,
however that process ends.
"""

import fcntl
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

from patchdiff.embedded_account import EmbeddedServerError, foreign_owner

PORT = 5432
"""Number in the socket's file name; the server listens on no network port."""

LONGEST_SOCKET_PATH = 103
"""Bytes of a socket's path that every supported system accepts."""

LARGEST_LOG = 10 * 1024 * 1024
"""Bytes of the log above which a start begins a new one."""

POLL_SECONDS = 0.02


class EmbeddedHome:
    """The files of one embedded server below `path`, an absolute path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path / "data"
        self.log = path / "postgresql.log"

    @classmethod
    def prepare(cls, path: Path) -> "EmbeddedHome":
        """Make the directory when it is missing, and check that it is the caller's alone.

        Raises EmbeddedServerError when it belongs to somebody else or holds anything foreign.
        """
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        real = path.resolve()
        state = real.stat()
        if state.st_uid != os.geteuid():
            raise EmbeddedServerError(foreign_owner(real, state.st_uid))
        entries = {entry.name for entry in real.iterdir()} - {"lost+found"}
        if entries and ".mutex" not in entries:
            raise EmbeddedServerError(
                f"{str(real)!r} is not empty and was not made by PatchDIFF: "
                "set PATCHDIFF_HOME to a new or empty directory"
            )
        # without /proc/self/cwd another account must pass through the directory, though not read it
        mode = 0o711 if os.geteuid() == 0 and sys.platform != "linux" else 0o700
        if stat.S_IMODE(state.st_mode) != mode:
            real.chmod(mode)
        return cls(real)

    def lock(self, name: str, operation: int, seconds: float) -> int | None:
        """Open the lock file `name` and lock it: its descriptor, which the caller closes.

        None when it was not to be had within `seconds`.
        """
        deadline = time.monotonic() + seconds
        path = self.path / name
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                while not _try_lock(descriptor, operation):
                    if time.monotonic() >= deadline:
                        os.close(descriptor)
                        return None
                    time.sleep(POLL_SECONDS)
                # somebody may have removed the whole directory while this one waited
                if _same_file(descriptor, path):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def identity(self) -> str:
        """What the server is told at its start, and asked for by those who connect."""
        state = self.data.stat()
        return f"{state.st_dev:x}-{state.st_ino:x}"

    def remove_leftovers(self) -> None:
        """Remove what killed initializations left. Only under both `.mutex` and `.server`."""
        for leftover in self.path.glob(".init-*"):
            shutil.rmtree(leftover)

    def open_log(self) -> int:
        """A descriptor to append to the log, a new one when the old one is large."""
        try:
            if self.log.lstat().st_size > LARGEST_LOG:
                self.log.replace(self.log.with_suffix(".log.1"))
        except FileNotFoundError:
            pass
        return os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)

    def sync(self) -> None:
        """Make a renaming in the directory durable."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def socket_directory(self) -> str:
        """The directory that clients name as host: `data`, or a short link to it.

        The link is used when the path is too long for a socket or has a comma, which separates
        hosts. It lies in a directory of the caller's own. Raises EmbeddedServerError when that
        directory is somebody else's.
        """
        path = str(self.data)
        if _fits(path):
            return path
        link = self._link()
        directory = link.parent
        directory.mkdir(mode=0o700, exist_ok=True)
        state = directory.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o077:
            raise EmbeddedServerError(
                f"{directory} is not a directory of the user's alone: remove it, or choose a "
                "PATCHDIFF_HOME whose path is shorter than 80 bytes and has no comma"
            )
        if not link.is_symlink() or str(link.readlink()) != path:
            temporary = link.with_name(f"{link.name}.{os.getpid()}")
            temporary.unlink(missing_ok=True)
            temporary.symlink_to(path)
            temporary.replace(link)
        return str(link)

    def remove_link(self) -> None:
        """Remove the short link, if there is one."""
        if not _fits(str(self.data)) and os.access(self._link().parent, os.W_OK):
            self._link().unlink(missing_ok=True)

    def _link(self) -> Path:
        name = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:16]
        # the directory made in there is checked, whoever else can write to its parent
        for base in (tempfile.gettempdir(), "/tmp"):  # noqa: S108
            link = Path(base) / f"patchdiff-{os.geteuid()}" / name
            if _fits(str(link)):
                return link
        raise EmbeddedServerError("the path of the directory for temporary files has a comma")


def _try_lock(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _fits(directory: str) -> bool:
    try:
        path = f"{directory}/.s.PGSQL.{PORT}".encode()
    except UnicodeEncodeError:
        return False
    return len(path) <= LONGEST_SOCKET_PATH and b"," not in path
