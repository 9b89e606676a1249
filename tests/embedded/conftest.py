"""Homes of embedded servers."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from patchdiff.embedded import EmbeddedServer
from tests.support.embedded import User, clear


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose server has run once and has ended in order."""
    path = tmp_path_factory.mktemp("prepared") / "home"
    with EmbeddedServer(path):
        pass
    (path / "postgresql.log").unlink()
    return path


@pytest.fixture
def cold() -> None:
    """Let `home` not exist yet."""


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A home of the test's own, a copy of `prepared` unless the test asks for `cold`."""
    path = tmp_path / "home"
    if "cold" not in request.fixturenames:
        subprocess.run(["cp", "-a", request.getfixturevalue("prepared"), path], check=True)
    yield path
    clear(path)


@pytest.fixture
def start_user(home: Path) -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def start(**environment: str) -> User:
        users.append(User(home, environment))
        return users[-1]

    yield start
    for user in users:
        user.kill()
