"""Whole editing sessions: by two independent client libraries, and in every protocol revision."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    MODERN_PROTOCOL_VERSIONS,
    SUPPORTED_PROTOCOL_VERSIONS,
)

from patchdiff.profiles import PROFILES
from tests.support.editing_session import ERRORS, STEPS
from tests.support.node_sdk import node, run_session
from tests.support.stdio import StdioClient
from tests.support.steps import assert_answered, bound

SERVER = [sys.executable, "-m", "patchdiff.cli", "mcp"]
HOSTS = Path(__file__).parents[1] / "docs" / "hosts.md"


def environment(database_url: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PATCHDIFF_")}
    return {**inherited, "PATCHDIFF_DATABASE_URL": database_url}


def as_javascript(value: object) -> object:
    """The value with every number as the double that it is in JavaScript."""
    return json.loads(json.dumps(value), parse_int=float)


def assert_session(results: list[tuple[bool, str]]) -> None:
    answers = [json.loads(text) for _, text in results]
    for number, (step, answer) in enumerate(zip(STEPS, answers, strict=True), 1):
        assert_answered(step["answer"], answer, answers, f"step {number}")
    assert [is_error for is_error, _ in results] == ERRORS
    for _, text in results:
        assert "\\u" not in text  # what a model reads is literal


@pytest.mark.req("MCP-022")
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_python_sdk_completes_a_session(database_url: str, mode: str) -> None:
    async def converse() -> list[tuple[bool, str]]:
        parameters = StdioServerParameters(
            command=SERVER[0], args=SERVER[1:], env=environment(database_url)
        )
        results: list[tuple[bool, str]] = []
        answers: list[Any] = []
        async with Client(stdio_client(parameters), mode=mode) as client:
            modern = mode != "legacy"
            assert client.protocol_version == ("2026-07-28" if modern else LATEST_HANDSHAKE_VERSION)
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == [
                tool.name for tool in PROFILES["full"].tools
            ]
            for step in STEPS:
                result = await client.call_tool(step["tool"], bound(step["arguments"], answers))
                text = getattr(result.content[0], "text", "")
                answers.append(json.loads(text))
                results.append((bool(result.is_error), text))
        return results

    assert_session(anyio.run(converse))


@pytest.mark.req("MCP-022")
@pytest.mark.skipif(node() is None, reason="there is no program `node` on this machine")
def test_the_node_sdk_completes_a_session(database_url: str) -> None:
    told = run_session(SERVER, environment(database_url), STEPS)
    assert told["server"]["name"] == "patchdiff"
    assert told["instructions"] == PROFILES["full"].instructions
    for tool, listed in zip(PROFILES["full"].tools, told["tools"], strict=True):
        assert listed["name"] == tool.name
        assert as_javascript(listed["inputSchema"]) == as_javascript(tool.input_schema)
    assert_session([(result["isError"], result["text"]) for result in told["results"]])


def converse_raw(client: StdioClient, meta: dict[str, Any]) -> None:
    """List the tools and take every step, by lines of JSON alone."""
    listed = client.request("tools/list", meta)["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in PROFILES["full"].tools]
    results: list[tuple[bool, str]] = []
    answers: list[Any] = []
    for step in STEPS:
        arguments = bound(step["arguments"], answers)
        request = {**meta, "name": step["tool"], "arguments": arguments}
        result = client.request("tools/call", request)["result"]
        answers.append(json.loads(result["content"][0]["text"]))
        results.append((result["isError"], result["content"][0]["text"]))
    assert_session(results)


@pytest.mark.req("MCP-022")
@pytest.mark.parametrize("revision", [*HANDSHAKE_PROTOCOL_VERSIONS, "2024-10-07", "2099-01-01"])
def test_a_revision_with_a_handshake(database_url: str, revision: str) -> None:
    client = StdioClient({"PATCHDIFF_DATABASE_URL": database_url}, handshake=False)
    try:
        answer = client.request(
            "initialize",
            {
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            },
        )["result"]
        known = revision in HANDSHAKE_PROTOCOL_VERSIONS
        assert answer["protocolVersion"] == (revision if known else LATEST_HANDSHAKE_VERSION)
        assert answer["serverInfo"]["name"] == "patchdiff"
        assert answer["instructions"] == PROFILES["full"].instructions
        client.notify("notifications/initialized", {})
        converse_raw(client, {})
    finally:
        assert client.close() == 0


@pytest.mark.req("MCP-022")
@pytest.mark.parametrize("revision", MODERN_PROTOCOL_VERSIONS)
def test_a_revision_without_a_handshake(database_url: str, revision: str) -> None:
    meta = {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    }
    client = StdioClient({"PATCHDIFF_DATABASE_URL": database_url}, handshake=False)
    try:
        found = client.request("server/discover", meta)["result"]
        assert revision in found["supportedVersions"]
        assert found["instructions"] == PROFILES["full"].instructions
        converse_raw(client, meta)
    finally:
        assert client.close() == 0


def test_the_documented_revisions_are_the_sdk_s() -> None:
    table = re.findall(r"^\| `(\d{4}-\d\d-\d\d)` \|", HOSTS.read_text("utf-8"), re.MULTILINE)
    assert table == list(SUPPORTED_PROTOCOL_VERSIONS)
