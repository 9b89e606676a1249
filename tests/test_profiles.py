"""The profiles: which tools each one offers, and which starts are refused."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from patchdiff import ExternalMCPAdapter
from patchdiff.catalog import TOOLS
from patchdiff.profiles import PROFILES
from patchdiff.settings import Settings, StartupError
from tests.support.commands import assert_refused, run, settings
from tests.support.documents import document
from tests.support.observations import single
from tests.support.stdio import StdioClient

READER = [
    "patchdiff_get_target",
    "patchdiff_export_target",
    "patchdiff_read_target",
    "patchdiff_read_lines",
    "patchdiff_find_occurrences",
    "patchdiff_preview",
    "patchdiff_replay",
    "patchdiff_get_pdcp_log",
    "patchdiff_get_manifest_ledger",
]
WORKSPACE = [
    "patchdiff_initialize_target",
    "patchdiff_read_lines",
    "patchdiff_observe_scope",
    "patchdiff_submit_observed_operations",
    "patchdiff_save",
]
EDITOR = ["open", "read", "find", "observe", "edit", "save", "history"]
OFFERED = {
    "full": list(TOOLS),
    "reader": READER,
    "observed-editor-v2": EDITOR,
    "workspace": WORKSPACE,
}


def session(database_url: str, profile: str | None, root: Path) -> StdioClient:
    return StdioClient(
        {
            "PATCHDIFF_DATABASE_URL": database_url,
            "PATCHDIFF_MCP_PROFILE": profile,
            "PATCHDIFF_WORKSPACE_ROOT": str(root),
        }
    )


@pytest.mark.req("PROF-001", "PROF-003", "PROF-004", "PROF-007", "PROF-012")
@pytest.mark.parametrize("profile", [None, *OFFERED])
def test_a_session_has_the_tools_of_its_profile_and_no_other(
    database_url: str, tmp_path: Path, profile: str | None
) -> None:
    client = session(database_url, profile, tmp_path)
    offered = OFFERED[profile or "full"]
    try:
        listed = client.request("tools/list", {})["result"]["tools"]
        assert [tool["name"] for tool in listed] == offered
        for name in sorted({*TOOLS, *EDITOR, "plastic_diff", "plastic_patch", "complete"}):
            answer = client.call_tool(name, {"zz": 1})
            assert answer.is_error is True
            code = "unknown_argument" if name in offered else "unknown_tool"
            assert (answer.payload["status"], answer.payload["code"]) == ("invalid_argument", code)
            assert answer.payload["tool"] == name
            assert answer.payload["failure_detail"]
    finally:
        assert client.close() == 0


@pytest.mark.req("PROF-002")
def test_the_settings_allow_the_profiles_and_no_other() -> None:
    assert get_args(Settings.model_fields["mcp_profile"].annotation) == tuple(PROFILES)


@pytest.mark.req("PROF-002")
@pytest.mark.parametrize("profile", ["Full", "observed-editor", "complete", "", "full,reader"])
def test_an_unknown_profile_stops_the_start(profile: str) -> None:
    told = run("mcp", PATCHDIFF_MCP_PROFILE=profile)
    line = assert_refused(told, "PATCHDIFF_MCP_PROFILE")
    for allowed in ("full", "reader", "observed-editor-v2", "workspace", "plastic"):
        assert allowed in line


@pytest.mark.req("PROF-010")
def test_the_workspace_profile_needs_a_root(database_url: str) -> None:
    told = run("mcp", PATCHDIFF_DATABASE_URL=database_url, PATCHDIFF_MCP_PROFILE="workspace")
    assert_refused(told, "PATCHDIFF_MCP_PROFILE=workspace", "PATCHDIFF_WORKSPACE_ROOT")
    with pytest.raises(StartupError, match="PATCHDIFF_WORKSPACE_ROOT"):
        ExternalMCPAdapter(settings(DATABASE_URL=database_url), profile="workspace")


@pytest.mark.req("PROF-008")
def test_the_workspace_profile_makes_targets_of_files_only(
    database_url: str, tmp_path: Path, admin: Any
) -> None:
    (tmp_path / "guide.md").write_text("# Guide\n", encoding="utf-8")
    count = "select count(*) from patchdiff.cloud_target_files"
    client = session(database_url, "workspace", tmp_path)
    try:
        before = admin.execute(count).fetchone()
        for arguments, named in (
            ({"filename": "a.md", "content": "text"}, "content must be null"),
            ({"filename": "a.md", "content": "text", "from_workspace": False}, "content must be"),
            ({"filename": "guide.md", "content": "t", "from_workspace": True}, "content must be"),
            ({"filename": "guide.md", "from_workspace": False}, "from_workspace must be true"),
            ({"filename": "guide.md"}, "from_workspace must be true"),
        ):
            answer = client.call("patchdiff_initialize_target", **arguments)
            assert answer["status"] == "invalid_argument", answer
            assert named in answer["failure_detail"]
        assert admin.execute(count).fetchone() == before
    finally:
        client.close()


@pytest.mark.req("PROF-008", "PROF-009")
@pytest.mark.parametrize("sync", ["0", "1", None])
def test_a_save_of_the_workspace_profile_publishes(
    database_url: str, tmp_path: Path, sync: str | None
) -> None:
    file = tmp_path / "guide.md"
    file.write_bytes(b"# Guide\r\n\r\nRun stop.\r\n")
    client = StdioClient(
        {
            "PATCHDIFF_DATABASE_URL": database_url,
            "PATCHDIFF_MCP_PROFILE": "workspace",
            "PATCHDIFF_WORKSPACE_ROOT": str(tmp_path),
            "PATCHDIFF_WORKSPACE_SYNC_ON_SAVE": sync,
        }
    )
    try:
        made = client.call("patchdiff_initialize_target", filename="guide.md", from_workspace=True)
        assert made["status"] == "ok", made
        target = made["target_file_id"]
        before = client.call("patchdiff_read_lines", target_file_id=target)
        assert before["text"] == "# Guide\n\nRun stop.\n"
        seen = client.call("patchdiff_observe_scope", target_file_id=target, symbol_name="Guide")
        done = client.call(
            "patchdiff_submit_observed_operations",
            **single(seen, {"op": "match", "match": "stop", "replace": "halt"}),
        )
        assert done["status"] == "accepted", done
        assert file.read_bytes() == b"# Guide\r\n\r\nRun stop.\r\n"
        refused = client.call("patchdiff_save", target_file_id=target, sync_workspace=False)
        assert refused["status"] == "invalid_argument", refused
        assert "sync_workspace" in refused["failure_detail"]
        assert file.read_bytes() == b"# Guide\r\n\r\nRun stop.\r\n"
        saved = client.call("patchdiff_save", target_file_id=target, expected_target_version=1)
        assert saved["status"] == "saved", saved
        assert saved["workspace_sync"]["synced_path"] == "guide.md"
        assert file.read_bytes() == b"# Guide\r\n\r\nRun halt.\r\n"
        again = client.call("patchdiff_save", target_file_id=target, sync_workspace=True)
        assert again["workspace_sync"]["publication"] == "installed"
    finally:
        client.close()


def named_tools(text: str) -> set[str]:
    return set(re.findall(r"patchdiff_[a-z_]+", text))


@pytest.mark.parametrize("profile", PROFILES)
def test_the_instructions_name_tools_that_the_session_has(profile: str) -> None:
    offered = {tool.name for tool in PROFILES[profile].tools}
    text = PROFILES[profile].instructions
    if profile == "observed-editor-v2":
        assert named_tools(text) == set()
        assert {name for name in EDITOR if re.search(rf"\b{name}\b", text)} == offered
    elif profile == "plastic":
        assert set(re.findall(r"plastic_[a-z]+", text)) == offered
    else:
        assert len(named_tools(text)) >= 4
        assert named_tools(text) <= offered
    assert text.isascii()


@pytest.mark.parametrize("profile", PROFILES)
def test_a_listing_names_no_foreign_tool(profile: str) -> None:
    """A model must not be sent to a tool that its session refuses."""
    offered = {tool.name for tool in PROFILES[profile].tools}
    for tool in PROFILES[profile].tools:
        named = named_tools(json.dumps([tool.description, tool.input_schema["properties"]]))
        assert named <= offered | {"patchdiff_editor", "patchdiff_reader"}, tool.name


def test_the_instructions_reach_the_host(client: StdioClient) -> None:
    assert client.handshake_result["instructions"] == PROFILES["full"].instructions
    assert document(client, "x")["version"] == 0
