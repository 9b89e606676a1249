"""The profile observed-editor-v2: short names over the service, snapshots, receipts of bounded
size."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from patchdiff import Service
from patchdiff.catalog import TOOLS
from patchdiff.observed_editor import ObservedEditor
from patchdiff.profiles import PROFILES
from tests.support.documents import UNKNOWN_ID, sha256
from tests.support.observations import FIRST, SOURCE, selections
from tests.support.stdio import StdioClient

BOUND = 32_768
NOTHING = {"target_file_id": None, "version": None, "current_hash": None}


@pytest.fixture(scope="module")
def editor(database_url: str) -> Iterator[StdioClient]:
    client = StdioClient(
        {
            "PATCHDIFF_DATABASE_URL": database_url,
            "PATCHDIFF_MCP_PROFILE": "observed-editor-v2",
        }
    )
    yield client
    assert client.close() == 0


def size(value: object) -> int:
    """Bytes of the value as compact ASCII JSON."""
    return len(json.dumps(value, separators=(",", ":")))


def opened(editor: StdioClient, content: str = SOURCE, filename: str = "t.py") -> str:
    answer = editor.call("open", filename=filename, content=content)
    assert answer["status"] == "ok", answer
    target = answer["target_file_id"]
    assert isinstance(target, str)
    return target


def snapshot(target: str | None, version: int, content: str) -> dict[str, Any]:
    return {"target_file_id": target, "version": version, "current_hash": sha256(content)}


def edit(
    editor: StdioClient, seen: dict[str, Any], *operations: Any, **arguments: Any
) -> dict[str, Any]:
    """Edit under a receipt, guarded by the snapshot that came with it."""
    call = {
        "target_file_id": seen["snapshot"]["target_file_id"],
        "intent": "t",
        "observation_id": seen["observation_id"],
        "operations": list(operations),
        "expected_target_version": seen["snapshot"]["version"],
        "expected_current_hash": seen["snapshot"]["current_hash"],
        **arguments,
    }
    return editor.call("edit", **call)


def match(text: str, replace: str, **fields: Any) -> dict[str, Any]:
    return {"op": "match", "match": text, "replace": replace, **fields}


@pytest.mark.req("PROF-004", "PROF-005")
def test_a_whole_session_goes_by_snapshots(editor: StdioClient) -> None:
    made = editor.call("open", filename="t.py", content=SOURCE, content_type="text/x-python")
    target = made["target_file_id"]
    start = snapshot(target, 0, SOURCE)
    assert made["snapshot"] == start
    assert "current_content" not in made
    again = editor.call("open", target_file_id=target)
    assert (again["snapshot"], again["total_chars"]) == (start, len(SOURCE))
    assert again["filename"] == "t.py"
    assert SOURCE not in json.dumps(again)
    read = editor.call("read", target_file_id=target, start_line=4, end_line=5)
    assert (read["snapshot"], read["text"]) == (start, f"{FIRST}\n")
    found = editor.call("find", target_file_id=target, text="one")
    assert (found["snapshot"], found["occurrence_count"]) == (start, 2)
    listed = editor.call("observe", target_file_id=target)
    assert (listed["snapshot"], len(listed["candidates"])) == (start, 6)
    seen = editor.call("observe", target_file_id=target, symbol_name=".first")
    assert (seen["snapshot"], seen["text"]) == (start, FIRST)

    refused = edit(editor, seen, match("absent", "x"))
    assert (refused["status"], refused["failure_reason"]) == ("rejected", "match_absent")
    assert refused["snapshot"] == start
    assert refused["near_misses"]
    changed = SOURCE.replace('"one"', '"1"', 1)
    done = edit(
        editor, seen, match('"one"', '"1"'), parent_pdcp_log_id=refused["pdcp_log_id"],
        client_request_id="k",
    )  # fmt: skip
    assert done["status"] == "accepted", done
    assert done["snapshot"] == snapshot(target, 1, changed)
    repeated = edit(
        editor, seen, match('"one"', '"1"'), parent_pdcp_log_id=refused["pdcp_log_id"],
        client_request_id="k",
    )  # fmt: skip
    assert (repeated["deduplicated"], repeated["snapshot"]) == (True, done["snapshot"])
    stale = editor.call("observe", target_file_id=target, observation_id=seen["observation_id"])
    assert stale["code"] in ("OBSERVATION_ALREADY_CONSUMED", "STALE_OBSERVATION_VERSION")
    assert stale["snapshot"] == done["snapshot"]

    pair = editor.call("observe", target_file_id=target, selections=selections(".first", ".other"))
    assert pair["snapshot"] == done["snapshot"]
    both = editor.call(
        "edit", target_file_id=target, intent="t",
        observation_bundle_id=pair["observation_bundle_id"],
        groups=[
            {"observation_id": scope["observation_id"], "operations": [match("return", "yield")]}
            for scope in pair["scopes"]
        ],
        expected_target_version=1, expected_current_hash=pair["snapshot"]["current_hash"],
        client_request_id="batch",
    )  # fmt: skip
    changed = changed.replace("return", "yield", 2)
    assert (both["status"], both["snapshot"]) == ("accepted", snapshot(target, 2, changed))

    page = editor.call("history", target_file_id=target)
    assert page["snapshot"] == both["snapshot"]
    assert [(entry["status"], entry["failure_reason"]) for entry in page["entries"]] == [
        ("accepted", None),
        ("accepted", None),
        ("rejected", "match_absent"),
    ]
    kept = editor.call("save", target_file_id=target, expected_target_version=2)
    assert (kept["status"], kept["snapshot"]) == ("saved", both["snapshot"])
    changes = editor.call("history", target_file_id=target, view="changes")
    assert [entry["after_version"] for entry in changes["entries"]] == [1, 2, 2]
    refused = editor.call("save", target_file_id=target, expected_target_version=1)
    assert (refused["status"], refused["snapshot"]) == ("rejected", both["snapshot"])


@pytest.mark.req("PROF-005")
def test_refusals_have_a_snapshot_too(editor: StdioClient) -> None:
    target = opened(editor)
    now = snapshot(target, 0, SOURCE)
    unread = {**NOTHING, "target_file_id": target}
    for tool, arguments, expected in (
        ("open", {}, NOTHING),
        ("open", {"filename": "x"}, NOTHING),
        ("open", {"target_file_id": target, "filename": "x"}, now),
        ("open", {"target_file_id": UNKNOWN_ID}, {**NOTHING, "target_file_id": UNKNOWN_ID}),
        ("open", {"target_file_id": 1}, NOTHING),
        ("read", {"target_file_id": target, "start_line": 0}, now),
        ("read", {"target_file_id": "x"}, {**NOTHING, "target_file_id": "x"}),
        ("read", {"target_file_id": "x" * 65}, NOTHING),
        ("find", {"target_file_id": target, "text": ""}, now),
        ("find", {"target_file_id": None, "text": "a"}, NOTHING),
        ("observe", {"target_file_id": target, "symbol_name": "none"}, now),
        ("observe", {"target_file_id": target, "symbol_name": "first"}, now),
        ("observe", {"target_file_id": target, "query": " "}, now),
        ("edit", {"target_file_id": target, "intent": "t"}, now),
        ("edit", {"target_file_id": UNKNOWN_ID, "intent": "t"},
         {**NOTHING, "target_file_id": UNKNOWN_ID}),
        ("edit", {"target_file_id": target, "intent": "\ud800"}, now),
        ("edit", {"target_file_id": target, "intent": "t", "include_correlation_id": 1}, now),
        ("save", {"target_file_id": target, "expected_target_version": 7}, now),
        ("history", {"target_file_id": target, "view": "all"}, now),
        ("history", {"target_file_id": target, "view": "changes", "status": "accepted"}, now),
        ("history", {"target_file_id": target, "limit": 0}, now),
        ("history", {"target_file_id": UNKNOWN_ID}, {**NOTHING, "target_file_id": UNKNOWN_ID}),
    ):  # fmt: skip
        answer = editor.call_tool(tool, arguments)
        assert answer.is_error is False, answer.text
        assert answer.payload["status"] in (
            "invalid_argument", "rejected", "not_found", "ambiguous",
        ), answer.text  # fmt: skip
        assert answer.payload["snapshot"] == expected, (tool, arguments, answer.text)
        assert list(answer.payload)[:2] == ["status", "snapshot"]
    for tool, arguments, expected in (
        ("read", {"target_file_id": target, "zz": 1}, unread),
        ("read", {}, NOTHING),
        ("patchdiff_read_lines", {"target_file_id": target}, unread),
    ):
        answer = editor.call_tool(tool, arguments)
        assert answer.is_error is True
        assert answer.payload["snapshot"] == expected


@pytest.mark.req("PROF-004")
def test_aliases_answer_what_the_service_does(editor: StdioClient, service: Any) -> None:
    target = opened(editor)
    for tool, method, arguments in (
        ("read", "read_lines", {"start_line": 2, "end_line": 9, "include_line_starts": True}),
        ("find", "find_occurrences", {"text": "return", "max_results": 2}),
        ("observe", "observe_scope", {"query": "first"}),
    ):
        answer = editor.call(tool, target_file_id=target, **arguments)
        del answer["snapshot"]
        assert answer == getattr(service, method)(target, **arguments)


def test_every_tool_has_a_method_that_takes_its_arguments(database_url: str) -> None:
    assert {tool.method for tool in PROFILES["observed-editor-v2"].tools} <= set(
        vars(ObservedEditor)
    )
    for tool in PROFILES["observed-editor-v2"].tools:
        if tool.alias_of is None:
            continue
        properties = tool.input_schema["properties"]
        theirs = TOOLS[tool.alias_of].input_schema["properties"]
        assert properties.items() <= theirs.items()
        assert set(theirs) - set(properties) <= {"export_after_save"}
        assert hasattr(Service, TOOLS[tool.alias_of].method)


@pytest.mark.req("PROF-006")
def test_the_receipt_of_a_large_edit_is_bounded(editor: StdioClient) -> None:
    words = [f"w{number:04}" for number in range(1_000)]
    content = "\n".join(words)
    target = opened(editor, content, "t.txt")
    seen = editor.call("observe", target_file_id=target, symbol_name="<document>", kind="document")
    operations = [match(word, word.upper()) for word in words]
    answer = edit(editor, seen, *operations, client_request_id="k" * 128)
    assert answer["status"] == "accepted"
    assert size(answer) <= BOUND
    assert answer["receipt_omitted"] == ["evidence"]
    assert answer["manifest_entries_added"] == len(words)
    assert answer["snapshot"] == snapshot(target, 1, content.upper())
    # nothing is lost: the ledger has each change
    page = editor.call("history", target_file_id=target, view="changes", limit=50)
    assert size(page) <= BOUND
    assert page["has_more"] is True
    assert page["entries"][-1]["change_index"] == len(words)


@pytest.mark.req("PROF-006")
def test_the_receipt_of_a_large_rejection_is_bounded(editor: StdioClient) -> None:
    # every character of the evidence is twelve bytes of ASCII JSON
    content = "\U0001f600\U0001f601" * 4_000
    target = opened(editor, content, "t.txt")
    seen = editor.call("observe", target_file_id=target, symbol_name="<document>", kind="document")
    for operation in (
        match("\U0001f600\U0001f601" * 200, "x"),
        match("\U0001f602" * 300, "x", change_id="c" * 64),
        match("\U0001f600" * 100_000, "x"),
        {"op": "span", "start": 0, "end": 4, "expected_text": "\U0001f605" * 4_000, "replace": ""},
        {"op": "x" * 100_000},
        match("a", "b", change_id="\U0001f600" * 50_000),
    ):
        answer = edit(editor, seen, operation, intent="\U0001f600" * 5_000)
        assert answer["status"] == "rejected", answer
        assert size(answer) <= BOUND
        assert answer["snapshot"] == snapshot(target, 0, content)
        assert answer["pdcp_log_id"]


@pytest.mark.req("PROF-006")
def test_other_receipts_are_bounded(editor: StdioClient) -> None:
    name = "\U0001f600" * 30_000
    made = editor.call("open", filename=name, content=SOURCE, content_type=name)
    assert size(made) <= BOUND
    assert made["snapshot"] == snapshot(made["target_file_id"], 0, SOURCE)
    again = editor.call("open", target_file_id=made["target_file_id"])
    assert size(again) <= BOUND
    assert set(again["receipt_omitted"]) <= {"filename", "target_type"}
    headings = "".join(f"# {chr(0x1F600 + number % 50) * 500}{number}\n" for number in range(150))
    target = opened(editor, headings, "t.md")
    listed = editor.call("observe", target_file_id=target)
    assert size(listed) <= BOUND
    assert (listed["candidates_truncated"], listed["total_candidates"]) == (True, 150)
    assert listed["candidates"][0]["name"] == "\U0001f600" * 500 + "0"
    assert 1 <= len(listed["candidates"]) < 150


@pytest.mark.req("PROF-006")
@pytest.mark.parametrize("view", ["attempts", "changes"])
def test_history_pages_by_size_and_loses_nothing(editor: StdioClient, view: str) -> None:
    target = opened(editor, "a0", "t.txt")
    for number in range(15):
        seen = editor.call(
            "observe", target_file_id=target, symbol_name="<document>", kind="document"
        )
        done = edit(
            editor, seen, match(f"a{number}", f"a{number + 1}"), intent="\U0001f600" * 300
        )  # fmt: skip
        assert done["status"] == "accepted"
    versions: list[int] = []
    cursor, pages = None, 0
    while True:
        page = editor.call(
            "history", target_file_id=target, view=view, limit=50, before_sequence=cursor
        )
        assert size(page) <= BOUND
        found = [entry["after_version"] for entry in page["entries"]]
        versions += found if view == "attempts" else found[::-1]
        assert all(len(entry["intent"]) == 256 for entry in page["entries"])
        assert all(entry["intent_truncated"] for entry in page["entries"])
        cursor, pages = page["next_sequence"], pages + 1
        if not page["has_more"]:
            assert cursor is None
            break
    assert versions == list(range(15, 0, -1))
    assert pages == 2


def test_history_is_twenty_entries_unless_asked_for_at_most_fifty(
    editor: StdioClient,
) -> None:
    target = opened(editor, "text", "t.txt")
    seen = editor.call("observe", target_file_id=target, symbol_name="<document>", kind="document")
    for _ in range(51):
        edit(editor, seen, match("absent", "x"))
    for limit, expected in ((None, 20), (7, 7), (50, 50), (51, 50), (10**30, 50)):
        page = editor.call("history", target_file_id=target, limit=limit)
        assert len(page["entries"]) == expected
        assert page["has_more"] is True
    rejected = editor.call("history", target_file_id=target, status="accepted")
    assert rejected["entries"] == []
