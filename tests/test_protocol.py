"""Tool calls, refusals and protocol revisions, over real pipes with a stand-in for the service."""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client

from patchdiff.profiles import PROFILES
from tests.support.pipes import ROOT, Child, initialize_params, tool_answer

TARGET = "00000000-0000-4000-8000-000000000000"
FIND = "patchdiff_find_occurrences"


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    running = Child()
    yield running
    status, rest, _ = running.end()
    assert (status, rest) == (0, [])


def call(child: Child, tool: str, arguments: Any) -> tuple[bool, dict[str, Any]]:
    is_error, text = child.call(tool, arguments)
    return is_error, json.loads(text)


def performed(child: Child) -> list[str]:
    _, answer = call(child, FIND, {"target_file_id": TARGET, "text": "performed"})
    names = answer["performed"]
    assert isinstance(names, list)
    return names


@pytest.mark.req("MCP-006", "MCP-007", "MCP-009")
def test_an_unknown_argument_never_reaches_the_tool(child: Child) -> None:
    before = performed(child)
    is_error, answer = call(
        child, "patchdiff_read_target", {"zz": 1, "target_file_id": TARGET, "Start": 0}
    )
    assert is_error is True
    assert answer.pop("failure_detail")
    assert answer == {
        "status": "invalid_argument",
        "code": "unknown_argument",
        "tool": "patchdiff_read_target",
        "unknown_arguments": ["zz", "Start"],
    }
    assert performed(child)[len(before) :] == ["performed"]


@pytest.mark.req("MCP-008", "MCP-009", "FIND-001")
def test_a_missing_argument_never_reaches_the_tool(child: Child) -> None:
    before = performed(child)
    is_error, answer = call(child, FIND, {"context_chars": 1})
    assert is_error is True
    assert answer.pop("failure_detail")
    assert answer == {
        "status": "invalid_argument",
        "code": "missing_argument",
        "tool": FIND,
        "missing_arguments": ["target_file_id", "text"],
    }
    assert performed(child)[len(before) :] == ["performed"]


@pytest.mark.req("MCP-010")
def test_unknown_and_missing_together_are_unknown_with_both_lists(child: Child) -> None:
    is_error, answer = call(child, FIND, {"text": "x", "target": TARGET})
    assert is_error is True
    assert answer["code"] == "unknown_argument"
    assert answer["unknown_arguments"] == ["target"]
    assert answer["missing_arguments"] == ["target_file_id"]


@pytest.mark.parametrize("arguments", [None, {}])
@pytest.mark.req("MCP-011")
def test_null_arguments_are_an_empty_object(child: Child, arguments: object) -> None:
    is_error, answer = call(child, "patchdiff_get_target", arguments)
    assert is_error is True
    assert answer["code"] == "missing_argument"
    assert answer["missing_arguments"] == ["target_file_id"]


def test_absent_arguments_are_an_empty_object(child: Child) -> None:
    message = child.ask("tools/call", {"name": "patchdiff_get_target"})
    assert json.loads(tool_answer(message)[1])["code"] == "missing_argument"


@pytest.mark.parametrize("name", ["\ud800", "\0", "\u2028", "", "n" * 100_000])
@pytest.mark.req("MCP-003", "MCP-007")
def test_any_argument_name_is_echoed(child: Child, name: str) -> None:
    is_error, answer = call(child, "patchdiff_read_target", {"target_file_id": TARGET, name: 1})
    assert is_error is True
    assert answer["unknown_arguments"] == [name]
    assert len(answer["failure_detail"]) < 300


@pytest.mark.parametrize(
    "name", ["patchdiff_submit_edits", "read_target", "patchdiff_read_target ", "", "\ud800"]
)
@pytest.mark.req("MCP-019")
def test_a_tool_outside_the_profile_is_unknown(child: Child, name: str) -> None:
    is_error, answer = call(child, name, {"target_file_id": TARGET})
    assert is_error is True
    assert answer.pop("failure_detail")
    assert answer == {"status": "invalid_argument", "code": "unknown_tool", "tool": name}


@pytest.mark.parametrize("start", ["1", True, False, None, 5.0, -1])
@pytest.mark.req("MCP-012", "MCP-013", "MCP-020", "MCP-021", "READ-005")
def test_a_refused_value_is_an_ordinary_answer(child: Child, start: object) -> None:
    is_error, answer = call(
        child, "patchdiff_read_target", {"target_file_id": TARGET, "start": start}
    )
    assert is_error is False
    assert answer["status"] == "invalid_argument"
    assert answer["failure_detail"]


def test_a_failure_of_the_tool_says_nothing_of_its_inside(child: Child) -> None:
    for order in ("raise secret-path", "object", "nan"):
        is_error, answer = call(child, FIND, {"target_file_id": TARGET, "text": order})
        assert is_error is True
        assert (answer["status"], answer["code"]) == ("error", "internal_error")
        assert set(answer) == {"status", "code", "failure_detail"}
        assert "secret" not in json.dumps(answer)


def test_calls_are_performed_one_at_a_time_in_order_of_arrival(child: Child) -> None:
    before = performed(child)
    orders = [f"sleep 0.0{9 - number}" for number in range(9)]
    for number, order in enumerate(orders):
        arguments = {"target_file_id": TARGET, "text": order}
        child.send_message(
            id=number, method="tools/call", params={"name": FIND, "arguments": arguments}
        )
    assert [child.message()["id"] for _ in orders] == list(range(9))
    assert performed(child)[len(before) :] == ["performed", *orders]


def test_a_ping_is_answered_while_a_call_runs(child: Child) -> None:
    arguments = {"target_file_id": TARGET, "text": "sleep 0.5"}
    child.send_message(
        id="call", method="tools/call", params={"name": FIND, "arguments": arguments}
    )
    child.send_message(id="ping", method="ping")
    assert [child.message()["id"], child.message()["id"]] == ["ping", "call"]


def test_a_cancelled_call_that_waits_is_dropped_and_one_that_runs_ends(child: Child) -> None:
    before = performed(child)
    for number, order in enumerate(["sleep 1.0", "echo waiting", "echo last"]):
        arguments = {"target_file_id": TARGET, "text": order}
        child.send_message(
            id=number, method="tools/call", params={"name": FIND, "arguments": arguments}
        )
    for number in (0, 1):
        child.send_message(method="notifications/cancelled", params={"requestId": number})
    assert child.message()["id"] == 2
    assert performed(child)[len(before) :] == ["performed", "sleep 1.0", "echo last"]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
@pytest.mark.req("MCP-022")
def test_handshake_revisions_are_negotiated(asked: str, given: str) -> None:
    child = Child(protocol_version=None)
    result = child.ask("initialize", initialize_params(asked))["result"]
    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "patchdiff"
    assert list(result["capabilities"]) == ["tools"]
    child.send_message(method="notifications/initialized")
    listed = child.ask("tools/list", {})["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in PROFILES["reader"].tools]
    is_error, answer = call(child, FIND, {"target_file_id": TARGET, "text": "echo"})
    assert (is_error, answer) == (False, {"status": "ok", "text": "echo"})
    assert child.end()[0] == 0


@pytest.mark.req("MCP-022")
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_sdk_client_completes_a_session(mode: str) -> None:
    async def converse() -> tuple[str | None, list[str], str]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tests.support.stand_in_server"],
            cwd=ROOT,
            env=dict(os.environ),
        )
        async with Client(stdio_client(parameters), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool(
                FIND, {"target_file_id": TARGET, "text": "echo \u2028\u00e9"}
            )
            assert result.is_error is False
            return client.protocol_version, names, getattr(result.content[0], "text", "")

    version, names, text = anyio.run(converse)
    assert version == {"legacy": "2025-11-25"}.get(mode, "2026-07-28")
    assert names == [tool.name for tool in PROFILES["reader"].tools]
    assert json.loads(text) == {"status": "ok", "text": "echo \u2028\u00e9"}
