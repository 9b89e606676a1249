"""The stdio transport: JSON-RPC messages, one a line, for the SDK's low-level server.

The transport of the SDK cannot carry this service's contract: it drops lines with a lone surrogate
unanswered, writes U+2028 literally and cancels the calls that are still running at the end of
input. This one decodes strictly, answers every malformed line and goes on, writes pure ASCII, and
ends only after the calls in progress are answered (contract section "Discovery, argument errors
and examples").
"""

import asyncio
import json
import logging
import math
import os
import queue
import select
import threading
from collections import deque
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

logger = logging.getLogger(__name__)

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603

MAX_LINE_BYTES: Final = 32 * 1024 * 1024
MAX_NESTING: Final = 256
MAX_INTEGER_DIGITS: Final = 4300
DRAIN_SECONDS: Final = 600.0
STALLED_OUTPUT_SECONDS: Final = 30.0
_CHUNK_BYTES: Final = 256 * 1024

_encode_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


def error_line(code: int, message: str, request_id: str | int | None = None) -> bytes:
    """A JSON-RPC error as a line in ASCII, its LF included."""
    error = {"code": code, "message": message}
    return _encode_json({"jsonrpc": "2.0", "id": request_id, "error": error}).encode() + b"\n"


def encode(message: JSONRPCMessage) -> bytes:
    """`message` as a line in ASCII, its LF included; an internal error if it is not JSON."""
    if isinstance(message, JSONRPCResponse):
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    else:
        body = message.model_dump(by_alias=True, exclude_unset=True)
    try:
        return _encode_json(body).encode("ascii") + b"\n"
    except (ValueError, TypeError, RecursionError):
        logger.exception("a reply could not be written as JSON")
        return error_line(INTERNAL_ERROR, "Internal error", getattr(message, "id", None))


def decode(line: bytes) -> JSONRPCMessage | bytes | None:
    """Read one line without its LF.

    Returns the message, or the error line that answers a malformed one, or None for a blank line.
    Strings keep lone surrogates and NUL that came as JSON escapes: judging them is the tools' part.
    """
    if not line.strip(b" \t\r"):
        return None
    try:
        value = _decode_json.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        return error_line(PARSE_ERROR, "Parse error: the line is not valid UTF-8")
    except RecursionError:
        return error_line(PARSE_ERROR, _TOO_DEEP)
    except _NumberRefusedError as problem:
        return error_line(PARSE_ERROR, f"Parse error: {problem}")
    except ValueError:
        return error_line(PARSE_ERROR, "Parse error: the line is not one JSON value")
    if _is_too_deep(value, line):
        return error_line(PARSE_ERROR, _TOO_DEEP)
    if isinstance(value, list):
        return error_line(
            INVALID_REQUEST, "Invalid Request: send one message a line; batches are not supported"
        )
    if not isinstance(value, dict):
        return error_line(INVALID_REQUEST, "Invalid Request: the message is not a JSON object")
    return _message(value)


class _NumberRefusedError(ValueError):
    pass


def _finite(literal: str) -> float:
    value = float(literal)
    if math.isinf(value):
        raise _NumberRefusedError("a number is beyond the range of a double")
    return value


def _integer(literal: str) -> int:
    if len(literal.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise _NumberRefusedError(f"an integer has more than {MAX_INTEGER_DIGITS} digits")
    return int(literal)


def _not_json(name: str) -> float:
    raise _NumberRefusedError(f"{name} is not JSON")


_decode_json = json.JSONDecoder(parse_float=_finite, parse_int=_integer, parse_constant=_not_json)
_TOO_DEEP: Final = f"Parse error: more than {MAX_NESTING} levels of nesting"


def _is_too_deep(value: object, line: bytes) -> bool:
    # Counting brackets is far cheaper than a walk and clears almost every message.
    if line.count(b"[") + line.count(b"{") <= MAX_NESTING:
        return False
    level = [value]
    for _ in range(MAX_NESTING):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _message(value: dict[str, Any]) -> JSONRPCMessage | bytes:
    request_id = value.get("id")
    readable_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    model: type[JSONRPCMessage]
    if "method" in value:
        if "id" in value and not readable_id:
            return error_line(INVALID_REQUEST, "Invalid Request: id must be a string or an integer")
        model = JSONRPCRequest if "id" in value else JSONRPCNotification
    elif "result" in value or "error" in value:
        model = JSONRPCResponse if "result" in value else JSONRPCError
        readable_id = False
    else:
        return error_line(
            INVALID_REQUEST,
            "Invalid Request: the message has no method",
            request_id if readable_id else None,
        )
    try:
        return model.model_validate(value, by_name=False)
    except ValueError:
        return error_line(
            INVALID_REQUEST,
            'Invalid Request: a message has jsonrpc "2.0", a method that is a string, '
            "and params that are an object",
            request_id if readable_id else None,
        )


class Wire:
    """Both halves of one stdio connection: the read and the write stream of the SDK's server.

    To be made inside a running asyncio loop, given to `Server.run` as both streams, and ended
    with `await finish()`. Input is read as it comes, so pings and cancellations are seen while a
    call runs; output is written by a thread of its own, so a peer that reads slowly stops nothing.

    At the end of input `receive` first waits until every request is answered, at most
    `DRAIN_SECONDS`; a connection with nothing in progress ends at once.
    """

    def __init__(self, read_descriptor: int, write_descriptor: int) -> None:
        self._read_descriptor = read_descriptor
        self._write_descriptor = write_descriptor
        self._loop = asyncio.get_running_loop()
        self._received: deque[SessionMessage] = deque()
        self._arrival = asyncio.Event()
        self._ended = False
        self._unanswered = 0
        self._all_answered = asyncio.Event()
        self._all_answered.set()
        self._metadata = ServerMessageMetadata(on_request_unanswered=self._settle)
        self._partial = bytearray()
        self._skipping = False
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._written_bytes = 0
        self._all_written = asyncio.Event()
        threading.Thread(target=self._write_lines, name="stdout writer", daemon=True).start()
        try:
            self._loop.add_reader(read_descriptor, self._read_ready)
        except (PermissionError, NotImplementedError):
            # Regular files and the null device cannot be polled.
            threading.Thread(target=self._read_lines, name="stdin reader", daemon=True).start()

    async def receive(self) -> SessionMessage:
        """The next message. Raises anyio.EndOfStream after the last one is answered."""
        while not self._received:
            if self._ended:
                with anyio.move_on_after(DRAIN_SECONDS):
                    await self._all_answered.wait()
                raise anyio.EndOfStream
            self._arrival.clear()
            await self._arrival.wait()
        return self._received.popleft()

    async def send(self, item: SessionMessage, /) -> None:
        """Queue one message for the peer; never waits."""
        self._outgoing.put(encode(item.message))
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            await self._settle()

    def stop(self) -> None:
        """End the connection now: take no further message and wait for no answer."""
        self._loop.remove_reader(self._read_descriptor)
        self._received.clear()
        self._end()
        self._all_answered.set()

    async def finish(self) -> None:
        """Wait until everything queued is written, or until the peer has stopped reading it."""
        self._outgoing.put(None)
        with anyio.CancelScope(shield=True):
            while not self._all_written.is_set():
                before = self._written_bytes
                with anyio.move_on_after(STALLED_OUTPUT_SECONDS):
                    await self._all_written.wait()
                if self._written_bytes == before:
                    break

    def _read_ready(self) -> None:
        try:
            data = os.read(self._read_descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._read_descriptor)
        self._feed(data)

    def _read_lines(self) -> None:
        data = b"-"
        while data:
            try:
                data = os.read(self._read_descriptor, _CHUNK_BYTES)
            except OSError:
                data = b""
            self._call_in_loop(self._feed, data)

    def _feed(self, data: bytes) -> None:
        *complete, rest = data.split(b"\n")
        for end in complete:
            if not self._skipping:
                self._keep(end)
            if not self._skipping:
                self._take(bytes(self._partial))
            self._partial.clear()
            self._skipping = False
        if not self._skipping:
            self._keep(rest)
        if not data:
            if self._partial:
                self._take(bytes(self._partial))
            self._end()

    def _keep(self, part: bytes) -> None:
        if len(self._partial) + len(part) <= MAX_LINE_BYTES:
            self._partial += part
            return
        self._partial.clear()
        self._skipping = True
        self._outgoing.put(
            error_line(
                INVALID_REQUEST, f"Invalid Request: the line is longer than {MAX_LINE_BYTES} bytes"
            )
        )

    def _take(self, line: bytes) -> None:
        message = decode(line)
        if message is None or self._ended:
            return
        if isinstance(message, bytes):
            self._outgoing.put(message)
            return
        if isinstance(message, JSONRPCRequest):
            self._unanswered += 1
            self._all_answered.clear()
            self._received.append(SessionMessage(message, self._metadata))
        else:
            self._received.append(SessionMessage(message))
        self._arrival.set()

    async def _settle(self) -> None:
        self._unanswered -= 1
        if self._unanswered <= 0:
            self._all_answered.set()

    def _end(self) -> None:
        self._ended = True
        self._arrival.set()

    def _write_lines(self) -> None:
        try:
            while (line := self._outgoing.get()) is not None:
                self._write_all(line)
        except OSError:
            # The peer has closed its end: there is nobody left to answer.
            self._call_in_loop(self.stop)
        self._call_in_loop(self._all_written.set)

    def _write_all(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            try:
                count = os.write(self._write_descriptor, rest)
            except BlockingIOError:
                poll = select.poll()
                poll.register(self._write_descriptor, select.POLLOUT)
                poll.poll()
                continue
            self._written_bytes += count
            rest = rest[count:]

    def _call_in_loop(self, function: Any, *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            # The loop has ended before this thread: what it has to say no longer matters.
            logger.debug("the connection has already ended")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Nothing to do here: both streams are this object, and `finish` ends it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        return None
