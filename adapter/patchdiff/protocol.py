"""The MCP protocol side: tools advertised and called over one stdio connection."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types
from mcp.server.lowlevel import Server

from patchdiff import __version__, cancellation, presentation
from patchdiff.arguments import refuse_names, shown
from patchdiff.catalog import Tool
from patchdiff.framing import Wire
from patchdiff.profiles import Profile

logger = logging.getLogger(__name__)

ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TERMINATION_GRACE_SECONDS: Final = 1.5

_INTERNAL_ERROR: Final[dict[str, Any]] = {
    "status": "error",
    "code": "internal_error",
    "failure_detail": "The server failed unexpectedly; its log on standard error has the details.",
}


@dataclass(frozen=True)
class Answer:
    """The payload of a tool's answer, and whether the call itself failed (MCP's isError).

    Without a `text` the text of the answer is the payload as JSON; with one the payload goes beside
    it as structured content.
    """

    payload: dict[str, Any]
    is_error: bool = False
    text: str | None = None


Dispatch = Callable[[Tool, dict[str, Any]], Answer]
"""Performs one call whose argument names are the tool's. It runs in a worker thread, one call at a
time, in the order of arrival."""


class Session:
    """The tools of a profile as one session has them: what is advertised, and calls with their
    answers as MCP has them, in the session's response mode.

    Calls of other tools and calls with unknown or missing argument names never reach `dispatch`.
    An exception of `dispatch` is logged and answered as an internal error without its text.
    """

    def __init__(
        self, profile: Profile, dispatch: Dispatch, response_mode: str = presentation.DETAILED
    ) -> None:
        self.profile = profile
        self._dispatch = dispatch
        self._response_mode = response_mode
        self._tools = {
            tool.name: presentation.announced(tool, response_mode) for tool in profile.tools
        }
        self._listed = listing(self._tools.values())

    def listing(self) -> mcp_types.ListToolsResult:
        """The answer to tools/list, a new object each time."""
        return self._listed.model_copy(deep=True)

    def refused(self, name: str, arguments: Mapping[str, Any]) -> mcp_types.CallToolResult | None:
        """The answer to a call whose tool or argument names are not the session's; None when they
        are."""
        tool = self._tools.get(name)
        if tool is None:
            refusal: dict[str, Any] | None = _unknown_tool(name, self._tools)
        elif tool.judges_its_arguments:
            refusal = None
        else:
            refusal = refuse_names(tool, arguments)
        return None if refusal is None else self._result(arguments, refusal, is_error=True)

    def performed(self, name: str, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
        """The answer to a call that is not `refused`."""
        tool = self._tools[name]
        try:
            answer = self._dispatch(tool, arguments)
            if answer.text is not None:
                return mcp_types.CallToolResult(
                    content=[mcp_types.TextContent(type="text", text=answer.text)],
                    structured_content=answer.payload,
                    is_error=answer.is_error,
                )
            payload = presentation.presented(tool, answer.payload, self._response_mode)
            return self._result(arguments, payload, is_error=answer.is_error)
        except Exception:
            logger.exception("%s failed", name)
            return self._result(arguments, _INTERNAL_ERROR, is_error=True)

    def _result(
        self, arguments: Mapping[str, Any], payload: dict[str, Any], *, is_error: bool
    ) -> mcp_types.CallToolResult:
        text = _json_text(self.profile.completed(arguments, payload))
        content = mcp_types.TextContent(type="text", text=text)
        return mcp_types.CallToolResult(content=[content], is_error=is_error)


def build_server(session: Session) -> Server[Any]:
    """The SDK's server for a session."""
    one_at_a_time = anyio.CapacityLimiter(1)

    async def on_list(_context: Any, _params: Any) -> mcp_types.ListToolsResult:
        return session.listing()

    async def on_call(
        _context: Any, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        arguments = params.arguments or {}
        refused = session.refused(params.name, arguments)
        if refused is not None:
            return refused
        # The work of a cancelled call runs to its end, so the connection stays usable, unless it
        # asks `patchdiff.cancellation`; a call that still waits for its turn is dropped.
        return await anyio.to_thread.run_sync(
            session.performed, params.name, arguments, limiter=one_at_a_time
        )

    server: Server[Any] = Server(
        "patchdiff",
        version=__version__,
        title="PatchDIFF",
        instructions=session.profile.instructions,
        on_list_tools=on_list,
        on_call_tool=on_call,
    )
    server.middleware.clear()
    return server


def listing(tools: Iterable[Tool]) -> mcp_types.ListToolsResult:
    """The answer to tools/list."""
    return mcp_types.ListToolsResult(tools=[_advertised(tool) for tool in tools])


def run(server: Server[Any], descriptors: tuple[int, int]) -> int:
    """Serve one stdio connection on (read, write) descriptors until it ends.

    Returns the exit status: 0 after the end of input, or when the peer has closed our output; 128
    plus the number of a signal to end. After such a signal the call in progress has
    TERMINATION_GRACE_SECONDS to be answered; then, or on a second signal, the process ends at once
    with that status. To be called in the main thread.
    """
    handlers = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    try:
        return anyio.run(_serve_connection, server, descriptors)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


async def _serve_connection(server: Server[Any], descriptors: tuple[int, int]) -> int:
    wire = Wire(*descriptors)
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def end(number: int) -> None:
        if received:
            os._exit(128 + number)
        received.append(number)
        cancellation.end_all()
        wire.stop()
        # A statement in progress is not waited for: the database rolls it back by itself.
        loop.call_later(TERMINATION_GRACE_SECONDS, os._exit, 128 + number)

    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        await server.run(wire, wire, server.create_initialization_options())
    finally:
        await wire.finish()
    return 128 + received[0] if received else 0


def _json_text(payload: dict[str, Any]) -> str:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(payload, separators=(",", ":"), allow_nan=False)
    return text


def _advertised(tool: Tool) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=mcp_types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _unknown_tool(name: str, served: Iterable[str]) -> dict[str, Any]:
    names = ", ".join(served)
    return {
        "status": "invalid_argument",
        "code": "unknown_tool",
        "tool": name,
        "failure_detail": f"There is no tool {shown(name)} here. The tools are {names}.",
    }
