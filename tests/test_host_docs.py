"""The pages for hosts and agents: configurations that start, recipes that run."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchdiff.profiles import PROFILES
from tests.support.commands import settings
from tests.support.node_sdk import node
from tests.support.stdio import StdioClient
from tests.support.steps import assert_answered, bound

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = (DOCS / "host-guide.md").read_text(encoding="utf-8")
HOSTS = (DOCS / "hosts.md").read_text(encoding="utf-8")
EDITOR = (DOCS / "observed-editor.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    """The code blocks of a language, each with the title of its section."""
    found = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE):
        title = section.splitlines()[0]
        code = re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        found += [(title, block) for block in code]
    return found


def from_command(block: str) -> dict[str, Any]:
    """What `claude mcp add` is told."""
    given = shlex.split(block)
    assert given[:3] == ["claude", "mcp", "add"]
    options, command = given[3 : given.index("--")], given[given.index("--") + 1 :]
    assert options[0] == "--env"
    assert options[2:] == ["patchdiff"]
    name, _, value = options[1].partition("=")
    return {"command": command[0], "args": command[1:], "env": {name: value}}


READERS: list[tuple[str, str, Callable[[str], dict[str, Any]]]] = [
    ("Claude Code", "sh", from_command),
    ("Claude Code", "json", lambda text: json.loads(text)["mcpServers"]["patchdiff"]),
    ("Codex", "toml", lambda text: tomllib.loads(text)["mcp_servers"]["patchdiff"]),
    ("Cursor", "json", lambda text: json.loads(text)["mcpServers"]["patchdiff"]),
    ("VS Code", "json", lambda text: json.loads(text)["servers"]["patchdiff"]),
    ("Zed", "json", lambda text: json.loads(text)["context_servers"]["patchdiff"]),
]


@pytest.mark.parametrize(
    ("host", "language", "read"), READERS, ids=[f"{host}-{kind}" for host, kind, _ in READERS]
)
def test_the_configuration_of_a_host_starts_a_server(
    database_url: str, host: str, language: str, read: Callable[[str], dict[str, Any]]
) -> None:
    [text] = [block for title, block in blocks(HOSTS, language) if title == host]
    given = read(text)
    expected = {"command": "patchdiff", "args": ["mcp"], "env": {"PATCHDIFF_MCP_PROFILE": "full"}}
    assert given | expected == given
    assert set(given) - set(expected) <= {"type", "source", "startup_timeout_sec"}
    assert given.get("type", "stdio") == "stdio"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PATCHDIFF_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        },
    }
    told = subprocess.run(
        [given["command"], *given["args"]],
        env={**inherited, **given["env"], "PATH": path, "PATCHDIFF_DATABASE_URL": database_url},
        input=json.dumps(request).encode() + b"\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["result"]["serverInfo"]["name"] == "patchdiff"


def run_recipe(client: StdioClient, recipe: list[dict[str, Any]]) -> None:
    answers: list[Any] = []
    for number, step in enumerate(recipe, 1):
        assert set(step) == {"tool", "arguments", "answer"}
        answer = client.call(step["tool"], **bound(step["arguments"], answers))
        answers.append(answer)
        assert_answered(step["answer"], answer, answers, f"step {number}")


RECIPES = blocks(GUIDE, "json")


@pytest.mark.parametrize("recipe", [text for _, text in RECIPES], ids=[name for name, _ in RECIPES])
def test_the_recipes_of_the_guide_work(client: StdioClient, recipe: str) -> None:
    run_recipe(client, json.loads(recipe))


def test_the_recipe_of_the_observed_editor_works(database_url: str) -> None:
    client = StdioClient(
        {
            "PATCHDIFF_DATABASE_URL": database_url,
            "PATCHDIFF_MCP_PROFILE": "observed-editor-v2",
        }
    )
    [(_, recipe)] = blocks(EDITOR, "json")
    try:
        run_recipe(client, json.loads(recipe))
    finally:
        client.close()


def test_the_guide_names_tools_and_codes_that_exist() -> None:
    offered = {tool.name for tool in PROFILES["full"].tools}
    assert set(re.findall(r"`(patchdiff_[a-z_]+)`", GUIDE)) <= offered
    errors = (DOCS / "errors.md").read_text(encoding="utf-8")
    _, _, table = GUIDE.partition("\n## After each refusal\n")
    cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    codes = {code for cell in cells for code in re.findall(r"`(\w+)`", cell)}
    assert len(codes) >= 20
    assert [code for code in sorted(codes) if f"`{code}`" not in errors] == []


@pytest.mark.skipif(node() is None, reason="there is no program `node` on this machine")
def test_the_conversions_of_utf_16_are_right() -> None:
    [(_, functions)] = blocks(GUIDE, "js")
    text = "a\U0001f600e\u0301\U0010ffff\u2028z"
    program = (
        f"{functions}\nconst text = {json.dumps(text)};\n"
        "const points = [], units = [];\n"
        "for (let i = 0; i <= [...text].length; i++) units.push(toUtf16(text, i));\n"
        "for (const unit of units) points.push(toCodePoints(text, unit));\n"
        "console.log(JSON.stringify([units, points]));"
    )
    told = subprocess.run(
        ["node", "-e", program], capture_output=True, encoding="utf-8", check=True
    )
    units = [len(text[:end].encode("utf-16-le")) // 2 for end in range(len(text) + 1)]
    assert json.loads(told.stdout) == [units, list(range(len(text) + 1))]


def test_the_profiles_of_the_page_are_the_code_s() -> None:
    section = HOSTS.partition("\n## Profiles\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]*) \|", section, re.MULTILINE)
    assert [name for name, _ in rows] == list(PROFILES)
    for name, cell in rows:
        listed = re.findall(r"`(\w+)`", cell)
        assert listed in ([], [tool.name for tool in PROFILES[name].tools])
    assert len(PROFILES["full"].tools) == 17
    assert len(PROFILES["reader"].tools) == 9


@pytest.mark.req("RESP-012")
def test_the_python_of_the_page_runs(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [(_, program)] = blocks(HOSTS, "python")
    monkeypatch.setenv("PATCHDIFF_DATABASE_URL", database_url)
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["names"] == [tool.name for tool in PROFILES["reader"].tools]
    assert names["answer"]["code"] == "invalid_target_id"
    assert settings().mcp_profile == "full"
