"""Paths of a workspace, and reading of regular files without following a link.

A relative path here is below the workspace's root, with `/` between its parts, and "" is the root.
Directories are opened part by part from the root, so that no part can be a link.
"""

import errno
import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchdiff.plastic.failure import Failure

CLIENT_DIRECTORY: Final = ".plastic"
MARK: Final = Path(CLIENT_DIRECTORY, "plastic.workspace")
SELECTOR: Final = f"{CLIENT_DIRECTORY}/plastic.selector"

_CHUNK_BYTES: Final = 1024 * 1024
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# without O_NONBLOCK the opening of a pipe would wait for a writer
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENAMETOOLONG})


class UnreadableError(Exception):
    """A file cannot be read as it should; `kind` is absent, link, irregular, oversized, unstable or
    denied."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class Snapshot:
    """The whole content of a regular file at one moment, and which file it was."""

    content: bytes
    identity: tuple[int, int]
    state: tuple[int, int, int]
    """Size in bytes, and the times of modification and change in nanoseconds."""


def find_workspace(start: Path) -> Path:
    """The physical root of the workspace that contains `start`.

    Raises Failure `not_a_workspace`.
    """
    try:
        place = start.resolve(strict=True)
    except (OSError, RuntimeError):
        raise Failure("not_a_workspace", "workspace") from None
    for directory in (place, *place.parents):
        try:
            found = (directory / MARK).lstat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            return directory
    raise Failure("not_a_workspace", "workspace")


def relative_path(root: Path, given: str) -> str:
    """The path that a caller gave, relative or absolute, as a relative path in normal form.

    Raises Failure `outside_workspace` or `unsafe_path` at the stage request.
    """
    path = posixpath.normpath(posixpath.join(str(root), given))
    inside = below(root, path)
    if inside is None:
        raise Failure("outside_workspace", "request")
    if is_the_clients(inside):
        raise Failure("unsafe_path", "request")
    return inside


def is_the_clients(path: str) -> bool:
    """Whether a relative path is the client's own directory or lies in it, in any case."""
    return path.partition("/")[0].casefold() == CLIENT_DIRECTORY


def below(root: Path, absolute: str) -> str | None:
    """The relative path of an absolute one; None when it does not lie below the root."""
    if absolute == str(root):
        return ""
    prefix = str(root).rstrip("/") + "/"
    return absolute[len(prefix) :] if absolute.startswith(prefix) else None


def kind_of(root: Path, path: str) -> str:
    """What is there physically: file, directory, link, other or absent.

    A link on the way makes it a link, and a file on the way makes it absent.
    """
    try:
        with _parent(root, path) as (directory, name):
            mode = os.lstat(name, dir_fd=directory).st_mode
    except UnreadableError as problem:
        return problem.kind
    except OSError as problem:
        if problem.errno in _ABSENT:
            return "absent"
        raise
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(mode), "other")


def refuse_unsafe(root: Path, path: str, stage: str, *, directories: bool) -> None:
    """Raise Failure `unsafe_path` for a link, `not_regular_file` for what is neither file nor
    absent; with `directories` a directory is allowed."""
    kind = kind_of(root, path)
    if kind == "link":
        raise Failure("unsafe_path", stage)
    if kind == "other" or (kind == "directory" and not directories):
        raise Failure("not_regular_file", stage)


def read_below(root: Path, path: str, limit: int) -> Snapshot:
    """The content of a regular file of at most `limit` bytes below a root, stable while it is read.

    Its identity, size, times and name are observed before and after. Raises UnreadableError.
    """
    try:
        with _parent(root, path) as (directory, name):
            descriptor = os.open(name, _FILE, dir_fd=directory)
            try:
                snapshot = _read(descriptor, limit)
            finally:
                os.close(descriptor)
        # from the root again: a directory on the way may have been exchanged
        with _parent(root, path) as (directory, name):
            found = os.lstat(name, dir_fd=directory)
    except OSError as problem:
        raise UnreadableError(_kind_of_error(problem)) from None
    if (found.st_dev, found.st_ino) != snapshot.identity or _state(found) != snapshot.state:
        raise UnreadableError("unstable")
    return snapshot


def _read(descriptor: int, limit: int) -> Snapshot:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise UnreadableError("irregular")
    content = bytearray()
    while len(content) <= limit:
        part = os.read(descriptor, min(_CHUNK_BYTES, limit + 1 - len(content)))
        if not part:
            break
        content += part
    after = os.fstat(descriptor)
    if len(content) > limit or after.st_size > limit:
        raise UnreadableError("oversized")
    if _state(before) != _state(after) or len(content) != after.st_size:
        raise UnreadableError("unstable")
    return Snapshot(bytes(content), (after.st_dev, after.st_ino), _state(after))


def _state(found: os.stat_result) -> tuple[int, int, int]:
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@contextmanager
def _parent(root: Path, path: str) -> Iterator[tuple[int, str]]:
    """The descriptor of the directory that holds `path`, and its name there."""
    *directories, name = path.split("/") if path else ["."]
    descriptor = os.open(root, _DIRECTORY)
    try:
        for part in directories:
            try:
                deeper = os.open(part, _DIRECTORY, dir_fd=descriptor)
            except OSError as problem:
                if problem.errno != errno.ENOTDIR:
                    raise
                mode = os.lstat(part, dir_fd=descriptor).st_mode
                raise UnreadableError("link" if stat.S_ISLNK(mode) else "absent") from None
            os.close(descriptor)
            descriptor = deeper
        yield descriptor, name
    finally:
        os.close(descriptor)


def _kind_of_error(problem: OSError) -> str:
    if problem.errno in _ABSENT:
        return "absent"
    # a link where a file is opened; a socket cannot be opened at all
    kinds = {errno.ELOOP: "link", errno.EMLINK: "link", errno.ENXIO: "irregular"}
    return kinds.get(problem.errno or 0, "denied")
