"""A child process on raw pipes, for tests that look at every byte."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = (sys.executable, "-m", "tests.support.stand_in_server")


class Child:
    """A running server; `line()` gives its stdout line by line, b"" at its end."""

    def __init__(
        self,
        command: Sequence[str] = STAND_IN,
        environment: Mapping[str, str] | None = None,
        *,
        protocol_version: str | None = "2025-11-25",
    ) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
        )
        assert self.process.stdin is not None
        self._stdin = self.process.stdin
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._stderr: list[bytes] = []
        self._threads = [threading.Thread(target=self._read, daemon=True)]
        self._threads.append(threading.Thread(target=self._read_stderr, daemon=True))
        for thread in self._threads:
            thread.start()
        if protocol_version is not None:
            self.initialized = self.ask("initialize", initialize_params(protocol_version), "start")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        self._stderr.extend(self.process.stderr)

    def send(self, data: bytes) -> None:
        """Write exactly these bytes."""
        self._stdin.write(data)
        self._stdin.flush()

    def send_message(self, **members: Any) -> None:
        """Write one JSON-RPC message as a line of ASCII."""
        self.send(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")

    def line(self, timeout: float = 20.0) -> bytes:
        """The next line of stdout, with its LF; b"" at its end, however often it is asked for."""
        line = self._lines.get(timeout=timeout)
        if not line:
            self._lines.put(line)
        return line

    def message(self, timeout: float = 20.0) -> dict[str, Any]:
        """The next line as a JSON-RPC message; it must be one line of ASCII."""
        line = self.line(timeout)
        assert line.endswith(b"\n"), (line[:200], self.stderr_so_far())
        assert line.isascii(), line[:200]
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, params: Any, request_id: Any = 1) -> dict[str, Any]:
        """Send a request and give the next message, which must be its answer."""
        self.send_message(id=request_id, method=method, params=params)
        message = self.message()
        assert message["id"] == request_id, message
        return message

    def call(self, tool: str, arguments: Any, request_id: Any = 1) -> tuple[bool, str]:
        """Call a tool: its isError and the text of its answer."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments}, request_id)
        return tool_answer(answer)

    def close_input(self) -> None:
        """Close the child's standard input."""
        self._stdin.close()

    def stderr_so_far(self) -> str:
        """What the child has written to stderr until now."""
        return b"".join(self._stderr).decode(errors="replace")

    def end(self, timeout: float = 20.0) -> tuple[int, list[bytes], str]:
        """Close the input and wait: the exit status, the lines not yet read, and stderr.

        To be called more than once if need be.
        """
        if not self._stdin.closed:
            # The child may have ended before: its status is what counts.
            with suppress(BrokenPipeError):
                self._stdin.close()
        status = self.process.wait(timeout)
        for thread in self._threads:
            thread.join(timeout)
        rest = []
        while line := self.line(timeout):
            rest.append(line)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return status, rest, self.stderr_so_far()


def initialize_params(protocol_version: str) -> dict[str, Any]:
    """The params of an initialize request."""
    return {
        "protocolVersion": protocol_version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }


def tool_answer(message: dict[str, Any]) -> tuple[bool, str]:
    """isError and the one text of the answer to a tool call."""
    result = message["result"]
    [content] = result["content"]
    assert content["type"] == "text"
    assert "structuredContent" not in result
    return result["isError"], content["text"]
