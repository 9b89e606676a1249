"""Paths of workspace files: which ones are allowed, and the way to them by handles.

A path is relative to the workspace's root, with components separated by a slash. A walk opens one
directory after the other by its parent's handle and follows no symbolic link, so a component that
is replaced meanwhile cannot lead it elsewhere.
"""

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

LONGEST_PATH: Final = 4_096
"""UTF-8 bytes of a path."""

LONGEST_COMPONENT: Final = 255
"""UTF-8 bytes of a component."""

OWN_PREFIX: Final = ".patchdiff"
"""What the names of this service's own files in a workspace begin with."""

_RESERVED: Final = re.compile(
    r"\.git|\.hg|\.svn|\.plastic|(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\xb9\xb2\xb3])(\..*)?",
    re.IGNORECASE,
)
# control, format and surrogate code points, line and paragraph separators
_INVISIBLE: Final = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
# these format characters belong to the spelling of several scripts
_JOINERS: Final = "\u200c\u200d"

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkspaceRefusal(Exception):
    """An operation on a workspace file that is refused before anything was installed.

    `code` is stable; `detail` is a sentence for the caller and never names the root.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def components(path: str) -> tuple[str, ...]:
    """The components of a path, at least one.

    Raises WorkspaceRefusal with code workspace_path_unsafe unless the path is relative, stays below
    the root and has components that mean one thing everywhere.
    """
    if path.startswith("/"):
        raise _unsafe("it is absolute")
    parts = tuple(path.split("/"))
    for part in parts:
        problem = _problem(part)
        if problem is not None:
            raise _unsafe(problem)
    if len(path.encode("utf-8")) > LONGEST_PATH:
        raise _unsafe(f"it is longer than {LONGEST_PATH:,} bytes")
    return parts


def _problem(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "it has an empty, . or .. component"
    if any(unicodedata.category(each) in _INVISIBLE for each in part if each not in _JOINERS):
        return "it has a control or invisible character"
    if "\\" in part or ":" in part:
        return "it has a backslash or a colon, which separate components elsewhere"
    if part[0] == "~" or part[0].isspace() or part[-1].isspace() or part[-1] == ".":
        return "a component begins with ~, begins or ends with a space, or ends with a dot"
    if unicodedata.normalize("NFC", part) != part:
        return "a component is not in Unicode normalization form C"
    if _RESERVED.fullmatch(part) or part.lower().startswith(OWN_PREFIX):
        return (
            "a component is reserved: a device name, a version control directory or a name that"
            f" begins with {OWN_PREFIX}"
        )
    if len(part.encode("utf-8")) > LONGEST_COMPONENT:
        return f"a component is longer than {LONGEST_COMPONENT} bytes"
    return None


@contextmanager
def closing_handle(descriptor: int) -> Iterator[int]:
    """Closes a file descriptor in the end. Raises OSError when that fails."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_root(root: Path) -> int:
    """A handle of the root directory; the configured path may lead there by links.

    Raises WorkspaceRefusal when there is no such directory (any more).
    """
    try:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise WorkspaceRefusal(
            "workspace_unavailable",
            f"The workspace's root directory cannot be opened: {os.strerror(problem.errno or 0)}.",
        ) from None


def open_directory(root: int, parts: Sequence[str], *, create: bool) -> int:
    """A handle of the directory at `parts` below the handle `root`, for no parts of the root anew.

    With `create` directories that are missing are made, with mode 0700. Raises WorkspaceRefusal for
    a symbolic link or anything else that is no directory, FileNotFoundError for a missing one.
    """
    directory = os.open(".", _DIRECTORY, dir_fd=root)
    for name in parts:
        with closing_handle(directory) as parent:
            directory = _open_child(parent, name, create)
    return directory


def _open_child(parent: int, name: str, create: bool) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise _not_a_directory(parent, name) from None
        raise
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
    # the new entry must be as durable as the file that will be below it
    os.fsync(parent)
    return _open_child(parent, name, create=False)


def _not_a_directory(parent: int, name: str) -> WorkspaceRefusal:
    with suppress(OSError):
        if not stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            return WorkspaceRefusal(
                "workspace_not_regular_file",
                "A component of the path is no directory: name a file below directories.",
            )
    return symbolic_link()


def symbolic_link() -> WorkspaceRefusal:
    """The refusal of a path with a symbolic link in it."""
    return _unsafe("a component is a symbolic link")


def _unsafe(problem: str) -> WorkspaceRefusal:
    return WorkspaceRefusal(
        "workspace_path_unsafe",
        f"The path is no safe path below the workspace's root: {problem}.",
    )
