"""Processes that use an embedded server, and what can be seen of one."""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

USER_PROGRAM = """
import signal, sys
from pathlib import Path
# a suite that runs in the background passes on that it ignores SIGINT
signal.signal(signal.SIGINT, signal.default_int_handler)
from patchdiff.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.url(), flush=True)
sys.stdin.readline()
"""


AS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root can act as several users")
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/cwd").is_symlink(), reason="a process's directory is known on Linux only"
)


class User:
    """A process that uses the server of a home, until it is told to leave or killed."""

    def __init__(self, home: Path, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER_PROGRAM, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | (environment or {}),
            start_new_session=True,
        )

    @property
    def url(self) -> str:
        """What it was told to connect to, once its server runs; to be asked for once."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process ended before its server was up"
        return line.rstrip("\n")

    def leave(self) -> None:
        """Let it end in order."""
        assert self.process.communicate("\n", timeout=60)[0] is not None
        assert self.process.returncode == 0

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.communicate()


def clear(home: Path) -> None:
    """Kill a server that a failed test left, and give the space back."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        os.kill(int((home / "data/postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    shutil.rmtree(home, ignore_errors=True)


def postmaster(home: Path) -> int:
    """The process number of the home's running server."""
    return int((home / "data/postmaster.pid").read_text().split()[0])


def ask(url: str, query: str) -> Any:
    """The first value of a query's first row."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]


def run(url: str, statement: str) -> None:
    """Execute a statement."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def answers(url: str) -> bool:
    """Whether a server answers at the URL."""
    try:
        ask(url, "select 1")
    except psycopg.OperationalError:
        return False
    return True


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait for the condition; fails when it does not come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)
