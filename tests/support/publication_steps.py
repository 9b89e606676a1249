"""Publications by processes that are killed: `python -m tests.support.publication_steps URL ROOT
KIND`.

For each step of a publication, after its every system call, within a write and around the commit,
one child process publishes a target of its own and kills itself there. KIND is existing
(a file that was imported) or new (a text of the call, below directories that are missing). For each
of them one line of JSON is printed: the step, the target and its path. The last child lives.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from tests.support.workspace import Managed, wrapped

OLD = b"old\r\n" * 3_000
NEW = "new\n" * 4_000


class Countdown:
    """Kills this process at the step of the given number, counted from one."""

    def __init__(self, number: int, report: int) -> None:
        self.left = number
        self.report = report
        self.write, self.kill = os.write, os.kill

    def step(self, name: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.write(self.report, name.encode())
            self.kill(os.getpid(), signal.SIGKILL)

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "write":
                file, content = arguments
                arguments = (file, content[: len(content) // 2 + 1])
            result = function(*arguments, **named)
            self.step(f"after {name}")
            return result

        return call


def publish(url: str, root: Path, target: str, countdown: Countdown) -> None:
    """Publish once, being killed on the way."""

    class Connection(psycopg.Connection[Any]):
        @contextlib.contextmanager
        def transaction(self, *arguments: Any, **named: Any) -> Iterator[psycopg.Transaction]:
            with super().transaction(*arguments, **named) as transaction:
                countdown.step("before any statement")
                yield transaction
                countdown.step("before COMMIT")
            countdown.step("after COMMIT")

    connection = Connection.connect(url, autocommit=True)
    managed = Managed(connection, root)
    with wrapped(countdown.wrap):
        answer = managed.save(target)
    assert answer["status"] == "saved", answer


def main(url: str, root: Path, kind: str) -> None:
    """Kill one child after the other."""
    connection = psycopg.connect(url, autocommit=True)
    managed = Managed(connection, root)
    for number in range(1, 1_000):
        path = f"{kind}{number}/deep/f"
        if kind == "existing":
            target = managed.imported(path, OLD)
            managed.replaced(target, NEW)
        else:
            target = managed.inline(path, NEW)
        read, report = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                publish(url, root, target, Countdown(number, report))
                status = 0
            finally:
                # neither the parent's connection nor its buffers are this process's to end
                os._exit(status)
        os.close(report)
        with os.fdopen(read, "rb") as told:
            step = told.read().decode()
        _, outcome = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(outcome) and os.WTERMSIG(outcome) == signal.SIGKILL
        assert killed is bool(step), outcome
        assert killed or outcome == 0, outcome
        print(json.dumps({"step": step, "target": target, "path": path}), flush=True)
        if not killed:
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
