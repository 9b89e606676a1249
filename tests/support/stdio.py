"""A raw JSON-RPC client over the real pipes of a `patchdiff mcp` child process.

It uses no client library, so that it can send what a library refuses to send (lone surrogates,
broken lines) and can look at the bytes that came back.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROTOCOL_VERSION = "2025-11-25"
DEFAULT_TIMEOUT = 60.0


@dataclass(frozen=True)
class ToolResult:
    """One answer to tools/call: the error flag, the text of content[0], and that text parsed as
    JSON."""

    is_error: bool
    text: str
    payload: dict[str, Any]


class StdioClient:
    """A running `patchdiff mcp` and one conversation with it.

    `environment` is laid over this process's environment, whose own PATCHDIFF_ variables are left
    out; a value of None removes a variable. `stderr_path` is the file that takes the child's stderr
    (a temporary one when None). The initialize handshake is done here unless `handshake` is false.
    `timeout` is in seconds and holds for every read; a read that takes longer raises TimeoutError
    with the child's stderr in its message.
    """

    def __init__(
        self,
        environment: Mapping[str, str | None],
        *,
        stderr_path: Path | None = None,
        arguments: Sequence[str] = ("mcp",),
        timeout: float = DEFAULT_TIMEOUT,
        handshake: bool = True,
    ) -> None:
        merged: dict[str, str | None] = {
            name: value for name, value in os.environ.items() if not name.startswith("PATCHDIFF_")
        }
        merged.update(environment)
        if stderr_path is None:
            descriptor, name = tempfile.mkstemp(prefix="patchdiff-stderr-", suffix=".txt")
            os.close(descriptor)
            stderr_path = Path(name)
            self._temporary_stderr = True
        else:
            self._temporary_stderr = False
        self.stderr_path = stderr_path
        self.timeout = timeout
        with stderr_path.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "patchdiff.cli", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={name: value for name, value in merged.items() if value is not None},
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answers: dict[object, dict[str, Any]] = {}
        self._next_id = 0
        self._reader = threading.Thread(target=self._read_all, daemon=True)
        self._reader.start()
        self.handshake_result: dict[str, Any] = {}
        if handshake:
            try:
                self._handshake()
            except BaseException:
                self.close()
                raise

    def _handshake(self) -> None:
        answer = self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            },
        )
        self.handshake_result = answer["result"]
        self.notify("notifications/initialized", {})

    def _read_all(self) -> None:
        # A thread of its own keeps the child's stdout empty: no large write on either side blocks.
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    @property
    def stderr(self) -> str:
        """What the child has written to stderr so far."""
        return self.stderr_path.read_text(encoding="utf-8", errors="replace")

    def send_line(self, line: bytes) -> None:
        """Write one raw line; the line end is added when it is missing."""
        assert self.process.stdin is not None
        self.process.stdin.write(line if line.endswith(b"\n") else line + b"\n")
        self.process.stdin.flush()

    def read_line(self, timeout: float | None = None) -> bytes:
        """The next raw line from stdout with its line end, or b"" at the end of the stream."""
        try:
            line = self._lines.get(timeout=self.timeout if timeout is None else timeout)
        except queue.Empty:
            raise TimeoutError(f"no line from the server; stderr: {self.stderr[-2000:]}") from None
        if line == b"":
            self._lines.put(b"")
        return line

    def send_request(self, method: str, params: object) -> int:
        """Send a request without waiting for its answer; returns the request's id."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        self.send_line(json.dumps(message, separators=(",", ":")).encode("ascii"))
        return self._next_id

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.send_line(json.dumps(message, separators=(",", ":")).encode("ascii"))

    def read_answer(self, request_id: int) -> dict[str, Any]:
        """The JSON-RPC message that answers the request, whole; others that arrive first are kept
        for later.

        Every line read on the way must be pure ASCII and a JSON-RPC object.
        """
        while request_id not in self._answers:
            line = self.read_line()
            assert line, f"the server closed stdout; stderr: {self.stderr[-2000:]}"
            assert line.isascii(), f"a line of stdout is not ASCII: {line[:200]!r}"
            message = json.loads(line)
            assert message.get("jsonrpc") == "2.0", f"not JSON-RPC: {line[:200]!r}"
            self._answers[message.get("id")] = message
        return self._answers.pop(request_id)

    def request(self, method: str, params: object) -> dict[str, Any]:
        """Send a request and return the whole JSON-RPC answer (with `result` or `error`)."""
        return self.read_answer(self.send_request(method, params))

    def call_tool(self, tool: str, arguments: dict[str, Any] | None) -> ToolResult:
        """Call a tool; a JSON-RPC error in place of a result fails the test."""
        return self.read_tool(
            self.send_request("tools/call", {"name": tool, "arguments": arguments})
        )

    def read_tool(self, request_id: int) -> ToolResult:
        """The result of a tool call that was sent with send_request."""
        answer = self.read_answer(request_id)
        assert "result" in answer, f"no result: {str(answer)[:2000]}; stderr: {self.stderr[-2000:]}"
        result = answer["result"]
        assert [part["type"] for part in result["content"]] == ["text"], result
        text = result["content"][0]["text"]
        return ToolResult(result.get("isError", False), text, json.loads(text))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must answer with isError false; returns its payload."""
        result = self.call_tool(tool, arguments)
        assert result.is_error is False, result.text
        return result.payload

    def close(self, timeout: float = 15.0) -> int:
        """Close the child's stdin and wait for its end; returns the exit status. Safe to call
        twice."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        # a broken pipe means that the child is gone already: its exit status tells
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self._reader.join(timeout)
        self.process.stdout.close()
        if self._temporary_stderr:
            self.stderr_path.unlink(missing_ok=True)
        return status
