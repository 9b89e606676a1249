"""The parent's side of the engine's child process: starting it, asking it, ending it."""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import patchdiff
from patchdiff.structure.frames import HEADER_BYTES, LARGEST_FRAME, decode, encode

POLL_SECONDS = 0.01

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from patchdiff.structure.worker import main; main()"
)

_PRIVATE = ("PATCHDIFF_", "PG")
"""What the names of environment variables begin with that the child does not get."""


class WorkerEndedError(Exception):
    """The child process ended without an answer.

    ``signal_number`` is what killed it, or None; ``largest_bytes`` the most memory it was seen to
    map, 0 where the system does not tell.
    """

    def __init__(self, signal_number: int | None, largest_bytes: int) -> None:
        super().__init__(signal_number, largest_bytes)
        self.signal_number = signal_number
        self.largest_bytes = largest_bytes


class WorkerProcess:
    """One child process. After any exception of a method it is good for nothing but `kill`.

    It has no descriptor of its parent but two pipes, is in a session of its own, so that a
    terminal's signals do not reach it, and ends when its parent does.
    """

    def __init__(self) -> None:
        """Starts the process, without waiting for it. Raises OSError when that is impossible."""
        if not sys.executable:
            raise FileNotFoundError(errno.ENOENT, "no Python interpreter is known")
        options = ["-I", "-B"] if sys.dont_write_bytecode else ["-I"]
        self._process = subprocess.Popen(
            [sys.executable, *options, "-c", _PROGRAM, json.dumps(_import_path())],
            bufsize=0,
            cwd="/",
            env={name: os.environ[name] for name in os.environ if not name.startswith(_PRIVATE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin.fileno()
        self._answers = self._process.stdout.fileno()
        os.set_blocking(self._requests, False)
        os.set_blocking(self._answers, False)
        self.kill = weakref.finalize(self, _end, self._process, os.getpid())
        """Ends the process and waits for that, in the process that started it; in a fork of that
        one it closes the pipes only. It may be called again."""

    @property
    def pid(self) -> int:
        """The number of the child process."""
        return self._process.pid

    def ask(self, message: Any, seconds: float) -> Any:
        """Sends a message and gives the answer.

        Raises TimeoutError when there is none within ``seconds``, WorkerEndedError when the process
        ends before.
        """
        return self._exchange(encode(message), seconds)

    def hear(self, seconds: float) -> Any:
        """The next message that comes unasked. Raises the exceptions of `ask`."""
        return self._exchange(b"", seconds)

    def _exchange(self, request: bytes, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        unsent = memoryview(request)
        received = bytearray()
        expected = HEADER_BYTES
        largest = 0
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        if unsent:
            poll.register(self._requests, select.POLLOUT)
        while len(received) < expected:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready = dict(poll.poll(min(left, POLL_SECONDS) * 1000))
            if not ready:
                largest = max(largest, self._mapped_bytes())
            if self._requests in ready:
                try:
                    unsent = unsent[os.write(self._requests, unsent) :]
                except BrokenPipeError:
                    raise self._ended(largest) from None
                if not unsent:
                    poll.unregister(self._requests)
            if self._answers in ready:
                part = os.read(self._answers, 1_048_576)
                if not part:
                    raise self._ended(largest)
                received += part
                if expected == HEADER_BYTES and len(received) >= HEADER_BYTES:
                    length = int.from_bytes(received[:HEADER_BYTES])
                    if length > LARGEST_FRAME:
                        raise self._ended(largest)
                    expected += length
        return decode(received[HEADER_BYTES:])

    def _ended(self, largest: int) -> WorkerEndedError:
        self.kill()
        status = self._process.returncode
        return WorkerEndedError(-status if status is not None and status < 0 else None, largest)

    def _mapped_bytes(self) -> int:
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_bytes().split(maxsplit=1)[0]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _import_path() -> list[str]:
    """The parent's import path, which may have been changed since its start, without relatives."""
    path = [str(Path(entry).absolute()) for entry in sys.path]
    package = str(Path(patchdiff.__file__).absolute().parents[1])
    return path if package in path else [*path, package]


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() == owner:
        process.send_signal(signal.SIGKILL)
        process.wait()
    else:
        process.returncode = 0  # not this process's to wait for
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
