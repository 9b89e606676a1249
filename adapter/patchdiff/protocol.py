"""The MCP protocol side: tools advertised and called over one stdio connection."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types
from mcp.server.lowlevel import Server

from patchdiff import __version__
from patchdiff.arguments import refuse_names, shown
from patchdiff.catalog import Tool
from patchdiff.framing import Wire

logger = logging.getLogger(__name__)

ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TERMINATION_GRACE_SECONDS: Final = 1.5

READING_INSTRUCTIONS: Final = """\
PatchDIFF keeps text documents ("targets") with every attempt to edit them.

patchdiff_read_lines and patchdiff_find_occurrences show exact text; offsets are code points.
patchdiff_get_pdcp_log lists every attempt, patchdiff_get_manifest_ledger the accepted changes.
Look at status in every answer: isError false does not mean that a proposal was accepted.
"""

EDITING_INSTRUCTIONS: Final = """\
PatchDIFF edits text documents ("targets") through guarded, atomic, audited transactions.

1. patchdiff_initialize_target creates a target; keep its target_file_id and version.
2. patchdiff_read_lines and patchdiff_find_occurrences show exact text; offsets are code points.
3. patchdiff_submit_edits replaces exact text, patchdiff_submit_operations also spans of offsets
   (several spans of one read in descending order). Pass as expected_target_version the version of
   the read that the edits came from, and a client_request_id, so that a call whose answer was lost
   can be repeated safely.
4. Look at status in every answer. "rejected" is an ordinary result (isError false): nothing was
   changed. Read its diagnostic, copy the text that is really there, adjust the replacement too, and
   submit anew with parent_pdcp_log_id set to the rejection's pdcp_log_id.

To change one function, section or other symbol and be sure that nothing else changes, observe it
with patchdiff_observe_scope and submit with patchdiff_submit_observed_operations, which takes the
receipt's id and both guards; several symbols go into one bundle and one batch. Do so always when an
answer has the code OBSERVATION_REQUIRED: kind "document" observes the whole text. A receipt is used
up by an accepted submission, and stale after any other change or a save.

patchdiff_get_pdcp_log lists every attempt, patchdiff_get_manifest_ledger the accepted changes.
"""


def instructions(tools: Iterable[Tool]) -> str:
    """What the server tells an agent about the use of these tools."""
    editing = any(not tool.read_only for tool in tools)
    return EDITING_INSTRUCTIONS if editing else READING_INSTRUCTIONS


_INTERNAL_ERROR: Final[dict[str, object]] = {
    "status": "error",
    "code": "internal_error",
    "failure_detail": "The server failed unexpectedly; its log on standard error has the details.",
}


@dataclass(frozen=True)
class Answer:
    """The payload of a tool's answer, and whether the call itself failed (MCP's isError)."""

    payload: dict[str, object]
    is_error: bool = False


Dispatch = Callable[[Tool, dict[str, Any]], Answer]
"""Performs one call whose argument names are the tool's. It runs in a worker thread, one call at a
time, in the order of arrival."""


def build_server(tools: Iterable[Tool], dispatch: Dispatch) -> Server[Any]:
    """The SDK's server for `tools`, each call performed by `dispatch`.

    Calls of other tools and calls with unknown or missing argument names never reach `dispatch`.
    An exception of `dispatch` is logged and answered as an internal error without its text.
    """
    served = {tool.name: tool for tool in tools}
    listed = listing(served.values())
    one_at_a_time = anyio.CapacityLimiter(1)

    async def on_list(_context: Any, _params: Any) -> mcp_types.ListToolsResult:
        return listed

    async def on_call(
        _context: Any, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        arguments = params.arguments or {}
        tool = served.get(params.name)
        if tool is None:
            text, is_error = _json_text(_unknown_tool(params.name, served)), True
        elif (refusal := refuse_names(tool, arguments)) is not None:
            text, is_error = _json_text(refusal), True
        else:
            # The work of a cancelled call runs to its end, so the connection stays usable; a call
            # that still waits for its turn is dropped.
            text, is_error = await anyio.to_thread.run_sync(
                _perform, dispatch, tool, arguments, limiter=one_at_a_time
            )
        content = mcp_types.TextContent(type="text", text=text)
        return mcp_types.CallToolResult(content=[content], is_error=is_error)

    server: Server[Any] = Server(
        "patchdiff",
        version=__version__,
        title="PatchDIFF",
        instructions=instructions(served.values()),
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


def _perform(dispatch: Dispatch, tool: Tool, arguments: dict[str, Any]) -> tuple[str, bool]:
    try:
        answer = dispatch(tool, arguments)
        return _json_text(answer.payload), answer.is_error
    except Exception:
        logger.exception("%s failed", tool.name)
        return _json_text(_INTERNAL_ERROR), True


def _json_text(payload: dict[str, object]) -> str:
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


def _unknown_tool(name: str, served: Iterable[str]) -> dict[str, object]:
    names = ", ".join(served)
    return {
        "status": "invalid_argument",
        "code": "unknown_tool",
        "tool": name,
        "failure_detail": f"There is no tool {shown(name)} here. The tools are {names}.",
    }
