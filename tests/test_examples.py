"""The examples of calls in the input schemas: how many, how large, and that each of them runs."""

import json
from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from patchdiff import ExternalMCPAdapter
from patchdiff.catalog import TOOLS
from patchdiff.settings import Settings
from tests.support.documents import content_of, document, sha256
from tests.support.observations import OBSERVE, SUBMIT, observe
from tests.support.stdio import StdioClient

NINE = {
    "patchdiff_initialize_target": 1,
    "patchdiff_read_lines": 1,
    "patchdiff_find_occurrences": 1,
    "patchdiff_submit_edits": 1,
    "patchdiff_submit_operations": 1,
    "patchdiff_submit_replacement": 1,
    "patchdiff_preview": 1,
    OBSERVE: 4,
    SUBMIT: 2,
}
GUIDE = (
    "# Guide\n\n## Install (Linux)\n\nRun setup.\nThen check.\n\n## Use\n\nRun start. Run stop.\n"
)

# what each example that changes something makes of the guide, by hand
RESULTS = {
    ("patchdiff_submit_edits", 0): GUIDE.replace("check.", "check the version.").replace(
        "stop.", "stop twice."
    ),
    ("patchdiff_submit_operations", 0): (
        "# Guide\n\n## Install (Linux)\n\nRun guide setup.\nThen first check.\n\n## Use\n\n"
        "Run start. Run guide stop.\n"
    ),
    ("patchdiff_submit_replacement", 0): "# Guide\n\nTo be written.\n",
    (SUBMIT, 0): GUIDE.replace("check.", "check the version."),
    (SUBMIT, 1): GUIDE.replace("setup.\nThen check.", "setup, then check.").replace(
        "Run stop", "Type stop"
    ),
}
STATUS = {
    "patchdiff_preview": "accepted",
    "patchdiff_submit_edits": "accepted",
    "patchdiff_submit_operations": "accepted",
    "patchdiff_submit_replacement": "accepted",
    SUBMIT: "accepted",
}


@pytest.fixture(scope="module")
def listed(client: StdioClient) -> dict[str, Any]:
    """The advertised tools by name, as a host sees them."""
    tools = client.request("tools/list", {})["result"]["tools"]
    return {tool["name"]: tool for tool in tools}


@pytest.mark.req("CAT-008", "CAT-009", "CAT-010", "CAT-028", "CAT-029")
def test_thirteen_small_examples_stand_in_nine_tools(listed: dict[str, Any]) -> None:
    examples = {
        name: tool["inputSchema"]["examples"]
        for name, tool in listed.items()
        if "examples" in tool["inputSchema"]
    }
    assert {name: len(given) for name, given in examples.items()} == NINE
    assert sum(NINE.values()) == 13
    assert len(NINE) == 9
    text = json.dumps(examples, ensure_ascii=True, separators=(",", ":"))
    assert len(text) <= 8_192
    discovery, single, bundle, page = examples[OBSERVE]
    assert discovery["query"]
    assert not {"symbol_name", "selections", "observation_id"} & set(discovery)
    assert single["symbol_name"]
    assert "selections" not in single
    assert len(bundle["selections"]) > 1
    assert page["offset"] > 0
    assert page["observation_id"]
    one, batch = examples[SUBMIT]
    assert {"observation_id", "operations"} <= set(one)
    assert {"observation_bundle_id", "groups", "client_request_id"} <= set(batch)
    assert not {"observation_id", "operations"} & set(batch)


@pytest.mark.req("CAT-011")
@pytest.mark.parametrize("name", NINE)
def test_examples_conform_to_the_advertised_schema(listed: dict[str, Any], name: str) -> None:
    schema = listed[name]["inputSchema"]
    for example in schema["examples"]:
        Draft202012Validator(schema).validate(example)


def bound(client: StdioClient, name: str, example: dict[str, Any]) -> dict[str, Any]:
    """The example with a real target's ids, guards and cursors in place of the illustrative."""
    arguments = deepcopy(example)
    if "target_file_id" not in arguments:
        return arguments
    long_page = "offset" in arguments
    content = GUIDE + ("Run.\n" * 2_000 if long_page else "")
    made = document(client, content, filename="guide.md", content_type="text/markdown")
    target = arguments["target_file_id"] = made["target_file_id"]
    for guard, value in (
        ("expected_target_version", made["version"]),
        ("expected_current_hash", made["current_hash"]),
    ):
        if guard in arguments:
            arguments[guard] = value
    if "observation_id" in arguments:
        seen = observe(client, target, symbol_name="Use" if long_page else "Install (Linux)")
        arguments["observation_id"] = seen["observation_id"]
        if long_page:
            arguments["offset"] = seen["next_offset"]
    if "groups" in arguments:
        chosen = [{"symbol_name": "Install (Linux)"}, {"symbol_name": "Use"}]
        seen = observe(client, target, selections=chosen)
        arguments["observation_bundle_id"] = seen["observation_bundle_id"]
        for group, scope in zip(arguments["groups"], seen["scopes"], strict=True):
            group["observation_id"] = scope["observation_id"]
    return arguments


@pytest.mark.req("CAT-012")
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, count in NINE.items() for number in range(count)]
)
def test_every_example_runs(
    client: StdioClient, listed: dict[str, Any], name: str, number: int
) -> None:
    arguments = bound(client, name, listed[name]["inputSchema"]["examples"][number])
    result = client.call_tool(name, arguments)
    assert result.is_error is False, result.text
    answer = result.payload
    if name == OBSERVE:
        expected = ["candidates", "observed", "observed_batch", "observed"][number]
        assert answer["status"] == expected, answer
        if number == 0:
            assert [entry["name"] for entry in answer["candidates"]] == ["Install (Linux)"]
        if number == 3:
            assert answer["offset"] == 4_000
            assert answer["text"]
    else:
        assert answer["status"] == STATUS.get(name, "ok"), answer
    if (name, number) in RESULTS:
        assert content_of(client, arguments["target_file_id"]) == RESULTS[name, number]
    if name == "patchdiff_find_occurrences":
        assert answer["occurrence_count"] == GUIDE.count("Run s")
    if name == "patchdiff_read_lines":
        assert answer["text"] == "## Install (Linux)\n\nRun setup.\nThen check.\n"


def test_the_illustrative_guards_are_those_of_the_document() -> None:
    example = TOOLS["patchdiff_submit_replacement"].input_schema["examples"][0]
    assert example["expected_current_hash"] == sha256(GUIDE)
    made = TOOLS["patchdiff_initialize_target"].input_schema["examples"][0]
    assert made["content"] == GUIDE


@pytest.mark.req("CAT-013")
def test_listings_are_byte_identical_in_a_process_and_between_processes(
    client: StdioClient, database_url: str
) -> None:
    def listing(session: StdioClient) -> bytes:
        request = {"jsonrpc": "2.0", "id": "list", "method": "tools/list", "params": {}}
        session.send_line(json.dumps(request).encode())
        return session.read_line()

    first = listing(client)
    assert listing(client) == first
    for seed in ("1", "2"):
        other = StdioClient({"PATCHDIFF_DATABASE_URL": database_url, "PYTHONHASHSEED": seed})
        try:
            assert listing(other) == first
        finally:
            other.close()
    payload = json.dumps(json.loads(first)["result"]["tools"], separators=(",", ":"))
    assert len(f'{{"tools":{payload}}}') <= 65_536


@pytest.mark.req("CAT-014")
def test_a_listing_that_was_changed_changes_no_other(client: StdioClient) -> None:
    adapter = ExternalMCPAdapter(Settings())
    first = adapter.list_tools()
    before = json.dumps(first)
    for tool in first["tools"]:
        for example in tool["inputSchema"].get("examples", []):
            example.clear()
        tool["inputSchema"]["properties"].clear()
        tool["annotations"].clear()
    assert json.dumps(adapter.list_tools()) == before
    served = client.request("tools/list", {})["result"]["tools"]
    assert served == json.loads(before)["tools"]
