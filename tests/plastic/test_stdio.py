"""The profile `plastic` over the real pipes of `patchdiff mcp`, without a database."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patchdiff import ExternalMCPAdapter
from patchdiff.plastic.envelopes import validate
from tests.plastic.kit import REPOSITORY, SERVER, Workspace
from tests.support.stdio import StdioClient

FULL = f"br:/main/x@{REPOSITORY}@{SERVER}"
FORMER = [
    "plastic_diff_file", "plastic_diff_revisions", "plastic_diff_workspace", "plastic_file_diff",
    "plastic_workspace_diff", "plastic_apply_patch", "plastic_patch_apply", "plastic_status",
]  # fmt: skip


@contextmanager
def served(workspace: Workspace, **environment: str | None) -> Iterator[StdioClient]:
    """A conversation with a server on the workspace."""
    workspace.save()
    client = StdioClient(
        {
            "PATCHDIFF_MCP_PROFILE": "plastic",
            "PATCHDIFF_DATABASE_URL": "postgresql://nobody:s3cret@127.0.0.1:1/none",
            "PATCHDIFF_HOME": str(workspace.base / "home"),
            "PATCHDIFF_PLASTIC_CM": str(workspace.programs_path / "cm"),
            "PATCHDIFF_PLASTIC_WORKSPACE": str(workspace.root),
            "TMPDIR": str(workspace.temporary),
            **environment,
        }
    )
    try:
        yield client
    finally:
        client.close()


def call(client: StdioClient, tool: str, **arguments: Any) -> tuple[dict[str, Any], str, bool]:
    """Envelope, text and isError of one call."""
    answer = client.request("tools/call", {"name": tool, "arguments": arguments})
    result = answer["result"]
    [content] = result["content"]
    validate(result["structuredContent"])
    return result["structuredContent"], content["text"], result.get("isError", False)


@pytest.mark.req("PDIFF-021", "PDIFF-023", "PDIFF-082", "PPATCH-006", "PDIFF-084", "PDIFF-085")
@pytest.mark.req("PROF-011", "PROF-012")
def test_a_conversation(workspace: Workspace) -> None:
    workspace.may_change_workspace = True
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.private("p.txt", b"p" * 40_000 + b"\n")
    workspace.branch_patch(FULL, content=b"patch \xf0\x9f\x98\x80\n")
    with served(workspace) as client:
        listed = client.request("tools/list", {})["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["plastic_diff", "plastic_patch"]
        assert "Plastic SCM" in client.handshake_result["instructions"]
        for tool in listed:
            assert not {"anyOf", "oneOf", "allOf", "not"} & set(tool["inputSchema"])
        envelope, text, is_error = call(client, "plastic_diff", mode="file", path="a.txt")
        assert json.loads(text) == envelope
        assert is_error is False
        assert envelope["data"]["status"] == "changed"
        as_text, text, _ = call(client, "plastic_diff", mode="file", path="a.txt", format="text")
        for each in (envelope, as_text):
            for capture in each["data"]["captures"]:
                capture["durationMs"] = 0
        assert as_text == envelope
        assert text.startswith("plastic_diff: ok")
        big, text, _ = call(client, "plastic_diff", mode="file", path="p.txt", maxChars=20_000)
        assert json.loads(text) == big
        patch, text, is_error = call(client, "plastic_patch", source="br:/main/x")
        assert (json.loads(text), is_error) == (patch, False)
        as_text, text, _ = call(client, "plastic_patch", source="br:/main/x", format="text")
        assert as_text["data"]["artifact"] == patch["data"]["artifact"]
        assert "patch \U0001f600" in text
        refused, text, is_error = call(client, "plastic_diff", mode="file", path="../x")
        assert (refused["error"]["code"], is_error) == ("outside_workspace", True)
        assert json.loads(text) == refused
    assert not (workspace.base / "home").exists()
    assert client.stderr_path.exists() is False


@pytest.mark.req("PDIFF-002", "PDIFF-003", "PDIFF-012", "PPATCH-003", "PPATCH-020")
def test_what_is_refused_over_the_wire(workspace: Workspace) -> None:
    with served(workspace) as client:
        for arguments in (
            {},
            {"mode": "pending"},
            {"mode": "file"},
            {"mode": "file", "path": "a", "unknown": 1},
            {"mode": "file", "path": "\ud800"},
            {"mode": "workspace", "paths": ["a"], "maxFiles": True},
        ):
            envelope, _, is_error = call(client, "plastic_diff", **arguments)
            assert (envelope["error"]["code"], is_error) == ("invalid_request", True)
        for arguments in ({}, {"source": "x", "apply": True}, {"source": "\ud800"}):
            envelope, _, is_error = call(client, "plastic_patch", **arguments)
            assert (envelope["error"]["code"], is_error) == ("invalid_request", True)
        for name in [*FORMER, "patchdiff_get_target"]:
            result = client.call_tool(name, {"mode": "file", "path": "a"})
            assert (result.is_error, result.payload["code"]) == (True, "unknown_tool")
    assert workspace.calls() == []


@pytest.mark.req("PDIFF-083", "PDIFF-084", "PDIFF-085", "PPATCH-007")
def test_the_defaults_of_the_settings(workspace: Workspace) -> None:
    workspace.change("d/a.txt", b"a\n", b"b\n")
    workspace.branch_patch(FULL, content=b"p\n")
    tool = str(workspace.programs_path / "diff")
    path = f"{workspace.programs_path}{os.pathsep}{os.environ['PATH']}"
    nothing = {"PATCHDIFF_PLASTIC_CM": None, "PATCHDIFF_PLASTIC_WORKSPACE": None}
    working = Path.cwd()
    os.chdir(workspace.root / "d")
    try:
        with served(workspace, PATH=path, PATCHDIFF_PLASTIC_PATCH_TOOL=tool, **nothing) as client:
            envelope, _, _ = call(client, "plastic_diff", mode="file", path="d/a.txt")
            assert envelope["ok"]
            # `diff` was looked up in PATH, where the stand-in comes first
            assert workspace.commands()[-1] == "diff-program"
            patch, _, _ = call(client, "plastic_patch", source=FULL)
            assert patch["data"]["backend"] == {"origin": "configured", "label": "diff"}
            assert f"--tool={tool}" in workspace.calls()[-1]["argv"]
        with served(workspace, PATCHDIFF_PLASTIC_DIFF=str(workspace.base / "none")) as client:
            envelope, _, _ = call(client, "plastic_diff", mode="file", path="d/a.txt")
            assert envelope["error"]["code"] == "backend_unavailable"
    finally:
        os.chdir(working)


def test_the_adapter_answers_as_a_session_does(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.save()
    monkeypatch.setenv("PATCHDIFF_PLASTIC_CM", str(workspace.programs_path / "cm"))
    monkeypatch.setenv("PATCHDIFF_PLASTIC_WORKSPACE", str(workspace.root))
    with ExternalMCPAdapter(profile="plastic") as adapter:
        answer = adapter.call_tool("plastic_diff", {"mode": "file", "path": "a.txt"})
        assert list(answer) == ["content", "structuredContent", "isError"]
        assert answer["structuredContent"]["data"]["status"] == "changed"
        assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
        refused = adapter.call_tool("plastic_diff", {"mode": "none"})
        assert refused["isError"] is True
        unknown = adapter.call_tool("patchdiff_save")
        assert list(unknown) == ["content", "isError"]


def wait_for(workspace: Workspace, command: str) -> None:
    deadline = time.monotonic() + 20
    while command not in workspace.commands():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("tool", ["plastic_diff", "plastic_patch"])
def test_a_cancelled_call_stops_its_command(workspace: Workspace, tool: str) -> None:
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.branch_patch(FULL, content=b"p\n")
    workspace.fault("cat", sleep=60)
    workspace.fault("patch", sleep=60)
    arguments = {"mode": "file", "path": "a.txt"}
    if tool == "plastic_patch":
        arguments = {"source": FULL}
    with served(workspace) as client:
        request = client.send_request("tools/call", {"name": tool, "arguments": arguments})
        wait_for(workspace, "patch" if tool == "plastic_patch" else "cat")
        start = time.monotonic()
        client.notify("notifications/cancelled", {"requestId": request, "reason": "test"})
        envelope, _, _ = call(client, "plastic_diff", mode="none")
        assert envelope["error"]["code"] == "invalid_request"
        assert time.monotonic() - start < 10
    # what a patch may still write into is kept, though nobody was there to be told
    workspace.retained = list(workspace.temporary.glob("*/"))
    assert len(workspace.retained) == (tool == "plastic_patch")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_ended_ends_its_command(workspace: Workspace, number: int) -> None:
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.fault("cat", sleep=60, ignoreTerm=True)
    with served(workspace) as client:
        arguments = {"mode": "file", "path": "a.txt"}
        client.send_request("tools/call", {"name": "plastic_diff", "arguments": arguments})
        wait_for(workspace, "cat")
        client.process.send_signal(number)
        assert client.process.wait(10) == 128 + number


@pytest.mark.req("PDIFF-089")
def test_a_server_keeps_no_descriptor_of_its_calls(workspace: Workspace) -> None:
    workspace.change("a.txt", b"a\n", b"b\n")
    workspace.fault("cat", nth=3, kill=9)
    workspace.fault("fileinfo", nth=5, stderr=70_000)
    workspace.fault("ls", nth=7, noExport=True, exit=1)
    with served(workspace) as client:
        place = Path(f"/proc/{client.process.pid}/fd")
        call(client, "plastic_diff", mode="file", path="a.txt")
        before = sorted(place.iterdir())
        for _ in range(12):
            call(client, "plastic_diff", mode="file", path="a.txt")
        assert sorted(place.iterdir()) == before
