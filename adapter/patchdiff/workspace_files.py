"""Reading a workspace file, and putting another in its place, under the lease of its directory.

The lease is an exclusive flock on the directory that holds the file: whoever reaches that directory
by whatever path meets the same one, and the kernel drops it with its process. It is never waited
for. New bytes are written to a file beside, made durable, and renamed or linked into place.
"""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from patchdiff.workspace_paths import (
    OWN_PREFIX,
    WorkspaceRefusal,
    closing_handle,
    open_directory,
    symbolic_link,
)

LARGEST_IMPORT: Final = 33_554_432
"""Bytes of the largest file that is imported."""

STAGING_NAME: Final = f"{OWN_PREFIX}-staging"
"""The file beside, one a directory. One that is found under the lease is left from a process that
was killed."""

_NEW_FILE_MODE: Final = 0o600
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_STAGE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Baseline(NamedTuple):
    """The bytes that a file must have: SHA-256 in lowercase hex, and their number."""

    sha256: str
    size: int


@dataclass
class Installation:
    """How far a publication came. `installed` is set with the very call that puts the new bytes in
    place, `durable` when the directory is known to have kept that."""

    installed: bool = False
    durable: bool = False


def import_bytes(root: int, parts: Sequence[str]) -> bytes:
    """The bytes of the file at `parts` below the handle `root`, read under its directory's lease.

    Raises WorkspaceRefusal, FileNotFoundError when it is missing, and OSError.
    """
    *parents, name = parts
    with (
        _leased(open_directory(root, parents, create=False)) as directory,
        closing_handle(_open_regular(directory, name)) as file,
    ):
        before = os.fstat(file)
        if before.st_size > LARGEST_IMPORT:
            raise WorkspaceRefusal(
                "workspace_file_too_large",
                f"The file has {before.st_size:,} bytes: at most {LARGEST_IMPORT:,} are imported.",
            )
        content = b"".join(_chunks(file, LARGEST_IMPORT + 1))
        after = os.fstat(file)
        if len(content) != before.st_size or after.st_mtime_ns != before.st_mtime_ns:
            raise drift("it changed while it was read")
        return content


def install(
    root: int,
    parts: Sequence[str],
    content: bytes,
    baseline: Baseline | None,
    progress: Installation,
) -> None:
    """Put `content` in the place of the file at `parts` below the handle `root`.

    The file must have the bytes of `baseline`, before the new ones are staged and again after; with
    None there must be no such file, and missing directories are made. Raises WorkspaceRefusal and
    OSError; `progress` then tells whether the new bytes are in place. Until they are, the old ones
    are untouched, and no other file of this function remains.
    """
    *parents, name = parts
    with _leased(_destination(root, parents, create=baseline is None)) as directory:
        replaced = _require(directory, name, baseline)
        with _staged(directory, content, replaced, progress):
            _require_same_directory(root, parents, directory)
            _require(directory, name, baseline)
            if replaced is None:
                _link(directory, name, progress)
            else:
                os.rename(STAGING_NAME, name, src_dir_fd=directory, dst_dir_fd=directory)
                progress.installed = True
                _make_durable(directory, progress)


def drift(what: str) -> WorkspaceRefusal:
    """The refusal for a file that is not as the target knows it."""
    return WorkspaceRefusal(
        "external_disk_drift",
        f"The file on disk is not as the target knows it: {what}. Nothing was written. Initialize"
        " a new target from the file to go on with what is there.",
    )


def _destination(root: int, parents: Sequence[str], *, create: bool) -> int:
    try:
        return open_directory(root, parents, create=create)
    except FileNotFoundError:
        raise drift("its directory is gone") from None


@contextmanager
def _leased(directory: int) -> Iterator[int]:
    """Holds the lease of a directory until its handle is closed, in the end."""
    with closing_handle(directory):
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceRefusal(
                "workspace_busy",
                "Another import or publication works in this directory: call again in a moment.",
            ) from None
        yield directory


def _open_regular(directory: int, name: str) -> int:
    # looked at before it is opened: opening a device can have effects
    _require_regular(os.stat(name, dir_fd=directory, follow_symlinks=False))
    try:
        file = os.open(name, _READ_FLAGS, dir_fd=directory)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EMLINK):
            raise symbolic_link() from None
        raise
    try:
        _require_regular(os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file


def _require_regular(found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise symbolic_link()
    if not stat.S_ISREG(found.st_mode):
        raise WorkspaceRefusal(
            "workspace_not_regular_file",
            "The path names a directory, a pipe, a socket or a device: name a regular file.",
        )


def _chunks(file: int, most: int) -> Iterator[bytes]:
    while most > 0 and (chunk := os.read(file, min(most, 1 << 20))):
        most -= len(chunk)
        yield chunk


def _require(directory: int, name: str, baseline: Baseline | None) -> os.stat_result | None:
    """What is known of the file, None when there is and must be none. Raises WorkspaceRefusal."""
    try:
        file = _open_regular(directory, name)
    except FileNotFoundError:
        if baseline is None:
            return None
        raise drift("it is gone") from None
    with closing_handle(file):
        if baseline is None:
            raise drift("there is one already")
        found = os.fstat(file)
        digest = hashlib.sha256()
        if found.st_size == baseline.size:
            # one byte more than expected is enough to tell that it grows
            for chunk in _chunks(file, baseline.size + 1):
                digest.update(chunk)
        if found.st_size != baseline.size or digest.hexdigest() != baseline.sha256:
            raise drift("it was edited")
        return found


def _require_same_directory(root: int, parents: Sequence[str], directory: int) -> None:
    with closing_handle(_destination(root, parents, create=False)) as found:
        if not os.path.samestat(os.fstat(found), os.fstat(directory)):
            raise drift("its directory was replaced")


@contextmanager
def _staged(
    directory: int, content: bytes, like: os.stat_result | None, progress: Installation
) -> Iterator[None]:
    with suppress(FileNotFoundError):
        os.unlink(STAGING_NAME, dir_fd=directory)
    file = os.open(STAGING_NAME, _STAGE_FLAGS, _NEW_FILE_MODE, dir_fd=directory)
    try:
        with closing_handle(file):
            _give_mode(file, like)
            _write(file, content)
            _sync(file)
        yield
    except BaseException:
        if not progress.installed:
            with suppress(OSError):
                os.unlink(STAGING_NAME, dir_fd=directory)
        raise


def _give_mode(file: int, like: os.stat_result | None) -> None:
    if like is None:
        # the umask has had its say at the file's creation
        os.fchmod(file, _NEW_FILE_MODE)
        return
    mode = stat.S_IMODE(like.st_mode)
    made = os.fstat(file)
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(file, like.st_uid, like.st_gid)
        except PermissionError:
            # set-id bits were given to another owner's program
            mode &= 0o1777
    os.fchmod(file, mode)


def _write(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _link(directory: int, name: str, progress: Installation) -> None:
    try:
        os.link(
            STAGING_NAME,
            name,
            src_dir_fd=directory,
            dst_dir_fd=directory,
            follow_symlinks=False,
        )
    except FileExistsError:
        raise drift("one has appeared meanwhile") from None
    progress.installed = True
    try:
        os.unlink(STAGING_NAME, dir_fd=directory)
    finally:
        _make_durable(directory, progress)


def _make_durable(directory: int, progress: Installation) -> None:
    _sync(directory)
    progress.durable = True


def _sync(descriptor: int) -> None:
    # macOS leaves the drive's own cache alone unless it is asked
    full: int | None = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(descriptor, full)
        except OSError as problem:
            if problem.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY):
                raise
        else:
            return
    os.fsync(descriptor)
