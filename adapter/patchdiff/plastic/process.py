"""One command: started from an argument vector, captured within bounds, stopped when it must be.

Nothing is inherited but the environment without this product's own settings: standard input is
closed, output and error are pipes, and the command leads a session of its own, so that its whole
process group can be ended.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from patchdiff import cancellation
from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import CaptureLimits

POLL_SECONDS: Final = 0.05
GRACE_SECONDS: Final = 2.0
"""Between the request to end and the kill of a process group."""

LAST_GRACE_SECONDS: Final = 0.3
"""The same when this process itself is about to end."""

KILLED_SECONDS: Final = 1.0
"""How long the end of a killed group is waited for."""

LEFTOVER_SECONDS: Final = 0.5
"""How long children of a command that has ended may take to end too."""

_CHUNK_BYTES: Final = 65_536
_PRIVATE: Final = ("PATCHDIFF_", "PG")


@dataclass(frozen=True)
class Command:
    """What is run, and how it is shown.

    `name` is its kind in a capture. `shown` stands for `arguments` in every answer: owned paths and
    programs by labels, credentials left out.
    """

    name: str
    arguments: Sequence[str]
    shown: Sequence[str]
    directory: Path
    limits: CaptureLimits
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Capture:
    """What a command did. `stdout` and `stderr` are the kept bytes, the counts those seen."""

    command: Command
    terminal: str = "unknown"
    exit_code: int | None = None
    signal_name: str | None = None
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    stdout_seen: int = 0
    stderr_seen: int = 0
    seconds: float = 0.0
    possibly_running: bool = False

    @property
    def truncated(self) -> bool:
        """Whether it printed more than is kept."""
        return self.stdout_seen > len(self.stdout) or self.stderr_seen > len(self.stderr)

    def as_json(self) -> dict[str, object]:
        """The capture of an envelope; what was printed is not part of it."""
        return {
            "command": self.command.name,
            "argv": list(self.command.shown),
            "terminal": self.terminal,
            "exitCode": self.exit_code,
            "signal": self.signal_name,
            "stdoutBytes": self.stdout_seen,
            "stderrBytes": self.stderr_seen,
            "stdoutKept": len(self.stdout),
            "stderrKept": len(self.stderr),
            "truncated": self.truncated,
            "durationMs": round(self.seconds * 1000),
            "timeoutMs": round(self.command.limits.seconds * 1000),
            "possiblyRunning": self.possibly_running,
        }

    def admit(self, stage: str, exits: Sequence[int] = (0,)) -> None:
        """Raise Failure unless it ended by itself with one of `exits`, complete and silent."""
        problem = self._problem(exits)
        if problem is not None:
            raise Failure(problem, stage)

    def _problem(self, exits: Sequence[int]) -> str | None:
        ended = {
            "spawn-failed": "backend_unavailable",
            "timeout": "command_timeout",
            "aborted": "aborted",
        }
        if self.terminal in ended:
            return ended[self.terminal]
        if self.truncated:
            return "output_limit"
        if self.terminal == "signal":
            return "command_signaled"
        if self.terminal != "exit" or self.exit_code not in exits or self.possibly_running:
            return "command_failed"
        if self.stderr_seen:
            return "command_stderr" if self.exit_code == 0 else "command_failed"
        return None


def run(command: Command) -> Capture:
    """Run one command to its end, or stop it at its bounds. Never raises for what it does.

    It is stopped when it prints more than is kept, when its time is over, or when the call is
    cancelled: its group is asked to end, then killed. `possibly_running` is true after every such
    stop and when children outlived it: that a group was killed does not prove that nothing of it
    runs elsewhere.
    """
    capture = Capture(command)
    if cancellation.is_cancelled():
        capture.terminal = "aborted"
        return capture
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_PRIVATE)}
    start = time.monotonic()
    try:
        process = subprocess.Popen(
            command.arguments,
            cwd=command.directory,
            env={**environment, **command.variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError):
        capture.terminal = "spawn-failed"
        return capture
    try:
        _Collector(process, capture, start + command.limits.seconds).collect()
    finally:
        capture.seconds = time.monotonic() - start
    return capture


class _Collector:
    """Follows one process until it has ended or was given up."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", capture: Capture, deadline: float
    ) -> None:
        self._process = process
        self._capture = capture
        self._deadline = deadline
        self._selector = selectors.DefaultSelector()
        self._exited = False

    def collect(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        streams = (self._process.stdout, self._process.stderr)
        try:
            for stream, name in zip(streams, ("stdout", "stderr"), strict=True):
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, name)
            reason = self._follow()
            if reason is not None:
                self._stop()
            self._reap()
            if reason in ("timeout", "aborted"):
                self._capture.terminal = reason
                self._capture.exit_code = self._capture.signal_name = None
        except BaseException:
            self._signal(signal.SIGKILL)
            self._process.wait()
            raise
        finally:
            self._selector.close()
            for stream in streams:
                stream.close()

    def _follow(self) -> str | None:
        """Read until the streams end and the process has; or why it must be stopped."""
        while self._selector.get_map() or not self._has_exited():
            if self._capture.truncated:
                return "output"
            if cancellation.is_cancelled():
                return "aborted"
            left = self._deadline - time.monotonic()
            if left <= 0:
                return "timeout"
            self._read(min(left, POLL_SECONDS))
        return "output" if self._capture.truncated else None

    def _read(self, seconds: float) -> None:
        if not self._selector.get_map():
            # both streams ended first; the exit follows within moments
            time.sleep(min(seconds, 0.002))
            return
        for key, _ in self._selector.select(seconds):
            try:
                part = os.read(key.fd, _CHUNK_BYTES)
            except BlockingIOError:
                continue
            if not part:
                self._selector.unregister(key.fileobj)
                continue
            self._keep(key.data, part)

    def _keep(self, name: str, part: bytes) -> None:
        capture = self._capture
        limits = capture.command.limits
        if name == "stdout":
            capture.stdout_seen += len(part)
            capture.stdout += part[: limits.stdout_bytes - len(capture.stdout)]
        else:
            capture.stderr_seen += len(part)
            capture.stderr += part[: limits.stderr_bytes - len(capture.stderr)]

    def _stop(self) -> None:
        self._capture.possibly_running = True
        ending = cancellation.process_is_ending()
        self._signal(signal.SIGTERM)
        self._drain(LAST_GRACE_SECONDS if ending else GRACE_SECONDS)
        # also when the leader has ended: it is not reaped yet, so its group's number is still its
        self._signal(signal.SIGKILL)
        self._drain(KILLED_SECONDS)

    def _drain(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._selector.get_map() or not self._has_exited():
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._read(min(left, POLL_SECONDS))

    def _reap(self) -> None:
        try:
            status = self._process.wait(KILLED_SECONDS)
        except subprocess.TimeoutExpired:
            # not even a kill ends it: it hangs in the system
            self._capture.possibly_running = True
            return
        if status < 0:
            self._capture.terminal = "signal"
            self._capture.signal_name = _signal_name(-status)
        else:
            self._capture.terminal = "exit"
            self._capture.exit_code = status
        if self._group_outlives():
            self._capture.possibly_running = True
            self._signal(signal.SIGKILL)

    def _group_outlives(self) -> bool:
        deadline = time.monotonic() + LEFTOVER_SECONDS
        while self._signal(0):
            if time.monotonic() > deadline:
                return True
            time.sleep(0.005)
        return False

    def _has_exited(self) -> bool:
        if self._exited:
            return True
        if hasattr(os, "waitid"):
            # not reaped yet, so that the number of the group cannot be given to another one
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            self._exited = os.waitid(os.P_PID, self._process.pid, options) is not None
        else:
            self._exited = self._process.poll() is not None
        return self._exited

    def _signal(self, number: int) -> bool:
        with contextlib.suppress(ProcessLookupError):
            try:
                os.killpg(self._process.pid, number)
            except PermissionError:
                return number == 0
            return True
        return False


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
