"""Workspaces for the tests: services on a root directory, and steps of a publication to act at."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import psycopg

from patchdiff import Service
from patchdiff.workspace import Workspace

STEPS = (
    "open", "stat", "fstat", "read", "write", "fchmod", "fsync", "mkdir", "rename", "link",
    "unlink", "close", "flock",
)  # fmt: skip
"""The system calls that imports and publications are made of."""

STAGING = ".patchdiff-staging"


class Managed:
    """A service on one root directory. Every answer is looked through for the root's path."""

    def __init__(self, connection: psycopg.Connection[Any], root: Path, **options: Any) -> None:
        self.connection = connection
        self.root = root
        self.service = Service(connection, workspace=Workspace(root, **options))

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        assert str(self.root) not in json.dumps(answer)
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool by its full name, as a StdioClient does."""
        return self._checked(getattr(self.service, tool.removeprefix("patchdiff_"))(**arguments))

    def open(self, path: str, **arguments: Any) -> dict[str, Any]:
        """The answer to an import."""
        answer = self.service.initialize_target(path, from_workspace=True, **arguments)
        return self._checked(answer)

    def imported(self, path: str, content: bytes | None = None) -> str:
        """The target of a file, which is written first when content is given."""
        if content is not None:
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        answer = self.open(path)
        assert answer["status"] == "ok", answer
        return str(answer["target_file_id"])

    def inline(self, filename: str, content: str = "new\n") -> str:
        """A target made of content that was given."""
        answer = self.service.initialize_target(filename, content)
        assert answer["status"] == "ok", answer
        return str(answer["target_file_id"])

    def save(self, target: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a publishing save."""
        arguments = {"sync_workspace": True, **arguments}
        return self._checked(self.service.save(target, **arguments))

    def saved(self, target: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a publishing save that must succeed."""
        answer = self.save(target, **arguments)
        assert answer["status"] == "saved", answer
        return answer

    def replaced(self, target: str, text: str) -> None:
        """Give the target another text."""
        version = self.service.get_target(target)["version"]
        answer = self.service.submit_replacement(target, "t", text, version)
        assert answer["status"] == "accepted", answer


def sha256_of(content: bytes) -> str:
    """Lowercase hex SHA-256."""
    return hashlib.sha256(content).hexdigest()


def snapshots(admin: psycopg.Connection[Any], target: str) -> int:
    """How many checkpoints the target has."""
    row = admin.execute(
        "select count(*) from patchdiff.target_snapshots"
        " where target_file_id = %s and snapshot_reason = 'save_checkpoint'",
        [target],
    ).fetchone()
    assert row is not None
    return int(row[0])


def baseline(admin: psycopg.Connection[Any], target: str) -> tuple[Any, ...] | None:
    """What the database knows of the target's file: path, SHA-256 and number of its bytes."""
    return admin.execute(
        "select relative_path, disk_sha256, disk_bytes from patchdiff.workspace_files"
        " where target_file_id = %s",
        [target],
    ).fetchone()


def tree(root: Path) -> dict[str, bytes | str]:
    """Everything below a directory: bytes of files, where links lead, what else there is."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = "directory" if path.is_dir() else "special"
    return found


@contextlib.contextmanager
def wrapped(wrap: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Put `wrap(name, function)` in the place of each of the system calls in STEPS."""
    places = {name: fcntl if name == "flock" else os for name in STEPS}
    originals = {name: getattr(place, name) for name, place in places.items()}
    wrappers = {name: wrap(name, function) for name, function in originals.items()}
    try:
        for name, place in places.items():
            setattr(place, name, wrappers[name])
        yield
    finally:
        for name, place in places.items():
            setattr(place, name, originals[name])


@contextlib.contextmanager
def before(step: str, act: Callable[[], object], number: int = 1) -> Iterator[None]:
    """Do something before the call of this number of a step, with the system calls as they are."""
    calls = 0

    def wrap(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls, armed
            if armed and name == step:
                calls += 1
                if calls == number:
                    armed = False
                    act()
            return function(*arguments, **named)

        return call

    armed = True
    with wrapped(wrap):
        yield
    assert calls >= number, f"{step} was called {calls} times"


class Failing:
    """Lets one call fail: that of a step that `chosen` holds for, by its number among those.

    A close that fails has closed, as with the kernel's. `hit` names the call that failed.
    """

    def __init__(
        self,
        number: int,
        step: str | None = None,
        code: int = errno.EIO,
        *,
        ever_after: bool = False,
    ) -> None:
        self._number, self._step, self._code = number, step, code
        self._ever_after = ever_after
        self.calls: list[str] = []
        self.hit: str | None = None

    def _wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self._step in (None, name):
                self.calls.append(name)
                if len(self.calls) == self._number or (
                    self._ever_after and len(self.calls) > self._number
                ):
                    self.hit = name
                    if name == "close":
                        function(*arguments, **named)
                    raise OSError(self._code, os.strerror(self._code))
            return function(*arguments, **named)

        return call

    def __enter__(self) -> Self:
        self._context = wrapped(self._wrap)
        self._context.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._context.__exit__(*problem)
