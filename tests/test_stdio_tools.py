"""Tool results as bytes on the wire of a real `patchdiff mcp`."""

from __future__ import annotations

import json

import pytest

from tests.support.documents import (
    accepted,
    attempts,
    change,
    content_of,
    document,
    rejected,
    row_counts,
    submit,
)
from tests.support.stdio import StdioClient

SEPARATORS = "a\u2028b\u2029c\x85d\n"


def raw_call(client, tool, arguments):
    """The raw answer line of a tool call, and the text of its content[0]."""
    message = {
        "jsonrpc": "2.0",
        "id": "raw",
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    client.send_line(json.dumps(message).encode("ascii"))
    line = client.read_line()
    answer = json.loads(line)
    assert answer["id"] == "raw"
    return line, answer["result"]


@pytest.mark.req("MCP-001", "MCP-002", "MCP-003")
def test_the_text_is_literal_and_the_line_is_ascii(client):
    text = '\xe9\u4e2d\U0001f600\u2028\x85\x7f\x01\t"\\\n'
    target = document(client, text)["target_file_id"]
    line, result = raw_call(client, "patchdiff_get_target", {"target_file_id": target})
    assert line.isascii()
    assert line.endswith(b"\n")
    assert line.splitlines() == [line[:-1]]
    (part,) = result["content"]
    assert part["type"] == "text"
    assert "\xe9\u4e2d\U0001f600\u2028\x85" in part["text"]
    assert "\\u4e2d" not in part["text"]
    assert "\\ud83d" not in part["text"]
    assert json.loads(part["text"])["current_content"] == text
    assert not result.get("structuredContent")
    assert line.count(b"current_content") == 1, "one copy of the result is enough"


@pytest.mark.req("MCP-003", "MCP-004")
def test_unicode_line_separators_do_not_split_a_line(client):
    target = document(client, SEPARATORS)["target_file_id"]
    refusal = {
        "target_file_id": target, "intent": "t", "edits": [change("absent", "x")],
        "expected_target_version": 0,
    }  # fmt: skip
    calls = [
        (
            "patchdiff_get_target",
            {"target_file_id": target},
            lambda answer: answer["current_content"],
        ),
        ("patchdiff_read_target", {"target_file_id": target}, lambda answer: answer["text"]),
        ("patchdiff_read_lines", {"target_file_id": target}, lambda answer: answer["text"]),
        ("patchdiff_export_target", {"target_file_id": target}, lambda answer: answer["content"]),
        (
            "patchdiff_find_occurrences",
            {"target_file_id": target, "text": "b"},
            lambda answer: (
                answer["occurrences"][0]["before"] + "b" + answer["occurrences"][0]["after"]
            ),
        ),
        (
            "patchdiff_submit_edits",
            refusal,
            lambda answer: answer["diagnostic"]["failure_context"]["text"],
        ),
    ]
    for tool, arguments, text_of in calls:
        line, result = raw_call(client, tool, arguments)
        assert line.isascii()
        assert len(line.decode("latin-1").splitlines()) == 1
        assert text_of(json.loads(result["content"][0]["text"])) == SEPARATORS, tool


@pytest.mark.req("MCP-005")
def test_a_result_with_a_lone_surrogate_is_escaped_alone(client):
    target = document(client, "\u4e2d")["target_file_id"]
    arguments = {"target_file_id": target, "\ud800": 1, "\u4e2d": 2}
    result = client.call_tool("patchdiff_read_target", arguments)
    assert result.is_error is True
    assert result.text.isascii()
    assert "\\ud800" in result.text
    assert "\\u4e2d" in result.text
    assert result.payload["code"] == "unknown_argument"
    assert sorted(result.payload["unknown_arguments"]) == ["\u4e2d", "\ud800"]
    after = client.call_tool("patchdiff_read_target", {"target_file_id": target})
    assert "\u4e2d" in after.text
    assert "\\u4e2d" not in after.text
    paired = client.call_tool("patchdiff_read_target", {"target_file_id": target, "\U0001f600": 1})
    assert "\U0001f600" in paired.text


@pytest.mark.req("MCP-005")
def test_an_echoed_key_with_a_lone_surrogate(client):
    target = document(client, "a\n")["target_file_id"]
    answer = rejected(
        client,
        target,
        change("a", "b"),
        reason="target_encoding_invalid",
        client_request_id="k\udc00",
    )
    assert answer["client_request_id"] in ("k\udc00", None)


@pytest.mark.req("MCP-006", "MCP-007", "MCP-008", "MCP-010", "MCP-011")
@pytest.mark.parametrize(
    ("arguments", "code", "unknown", "missing"),
    [
        (None, "missing_argument", None, ["target_file_id", "text"]),
        ({}, "missing_argument", None, ["target_file_id", "text"]),
        ({"text": "a"}, "missing_argument", None, ["target_file_id"]),
        ({"target_file_id": "x", "text": "a", "Text": "b"}, "unknown_argument", ["Text"], None),
        ({"target_file_id": "x", "query": 1, "": 2}, "unknown_argument", ["", "query"], ["text"]),
        ({"a": 1}, "unknown_argument", ["a"], ["target_file_id", "text"]),
    ],
)
def test_argument_names(client, arguments, code, unknown, missing):
    result = client.call_tool("patchdiff_find_occurrences", arguments)
    assert result.is_error is True
    payload = result.payload
    names = {
        name: sorted(payload[name])
        for name in ("unknown_arguments", "missing_arguments")
        if payload.get(name)
    }
    expected = {"unknown_arguments": unknown, "missing_arguments": missing}
    assert names == {name: value for name, value in expected.items() if value is not None}
    assert (payload["status"], payload["code"]) == ("invalid_argument", code)
    assert payload["tool"] == "patchdiff_find_occurrences"
    assert payload["failure_detail"]


@pytest.mark.req("MCP-019")
@pytest.mark.parametrize("tool", ["patchdiff_nope", "plastic_diff", "", "get_target", "\ud800"])
def test_a_tool_that_does_not_exist(client, tool):
    result = client.call_tool(tool, {"target_file_id": "x"})
    assert result.is_error is True
    assert (result.payload["status"], result.payload["code"]) == (
        "invalid_argument",
        "unknown_tool",
    )
    assert result.payload["tool"] == tool
    assert result.payload["failure_detail"]


@pytest.mark.req("MCP-009")
def test_refused_names_write_no_row(client, admin):
    target = document(client, "a\n")["target_file_id"]
    before = row_counts(admin)
    complete = {
        "target_file_id": target, "intent": "t", "edits": [change("a", "b")],
        "expected_target_version": 0, "client_request_id": "k",
    }  # fmt: skip
    calls = [("patchdiff_submit_edits", {**complete, "extra": 1}, "unknown_argument")]
    for name in ("target_file_id", "intent", "edits"):
        partial = {key: value for key, value in complete.items() if key != name}
        calls.append(("patchdiff_submit_edits", partial, "missing_argument"))
        calls.append(("patchdiff_submit_edits", {**partial, "extra": None}, "unknown_argument"))
    calls.append(
        (
            "patchdiff_initialize_target",
            {"filename": "a", "content": "b", "name": "c"},
            "unknown_argument",
        )
    )
    calls.append(("patchdiff_handle_upload", {"filename": "a", "content": "b"}, "missing_argument"))
    for tool, arguments, code in calls:
        result = client.call_tool(tool, arguments)
        assert result.is_error is True
        assert (result.payload["status"], result.payload["code"]) == ("invalid_argument", code)
        assert result.payload["tool"] == tool
        assert result.payload["failure_detail"]
    assert row_counts(admin) == before
    accepted(client, target, change("a", "b"), client_request_id="k")


@pytest.mark.req("MCP-012", "MCP-013", "MCP-020", "MCP-021")
@pytest.mark.parametrize(
    ("tool", "integers", "booleans"),
    [
        ("patchdiff_initialize_target", [], ["from_workspace"]),
        ("patchdiff_read_target", ["start", "length"], []),
        (
            "patchdiff_read_lines",
            ["start_line", "end_line", "offset", "max_chars"],
            ["include_line_starts"],
        ),
        ("patchdiff_find_occurrences", ["context_chars", "start_occurrence", "max_results"], []),
        ("patchdiff_get_pdcp_log", ["limit", "before_sequence"], ["include_content"]),
        (
            "patchdiff_get_manifest_ledger",
            ["limit", "before_sequence"],
            ["include_previous_cycles"],
        ),
    ],
)
def test_nothing_is_coerced(client, tool, integers, booleans):
    target = document(client, "aa\naa\n")["target_file_id"]
    required = {"target_file_id": target}
    if tool == "patchdiff_initialize_target":
        required = {"filename": "a", "content": "b"}
    elif tool == "patchdiff_find_occurrences":
        required["text"] = "a"
    wrong = [(name, value) for name in integers for value in ("1", "", True, False, 1.0)]
    wrong += [(name, value) for name in booleans for value in ("true", "false", "", 1, 0, 1.0)]
    for name, value in wrong:
        result = client.call_tool(tool, {**required, name: value})
        assert result.is_error is False, (name, value)
        assert result.payload["status"] == "invalid_argument", (name, value)
        assert result.payload["failure_detail"]
    assert client.call(tool, **required).get("status", "ok") == "ok"


@pytest.mark.req("MCP-014", "MCP-020", "MCP-021")
@pytest.mark.parametrize(
    "arguments",
    [
        {"expected_target_version": "0"},
        {"expected_target_version": False},
        {"attempt": "1"},
        {"attempt": True},
        {"edits": [change("a", "b", occurrence_index="1")]},
        {"edits": [change("a", "b", occurrence_index=True)]},
        {"edits": "[]"},
        {"edits": [change("absent", "b")]},
    ],
)
def test_a_rejection_is_no_error(client, arguments):
    target = document(client, "a\n")["target_file_id"]
    call = {
        "target_file_id": target, "intent": "t", "edits": [change("a", "b")],
        "expected_target_version": 0, **arguments,
    }  # fmt: skip
    result = client.call_tool("patchdiff_submit_edits", call)
    assert result.is_error is False
    assert result.payload["status"] == "rejected"
    assert content_of(client, target) == "a\n"


@pytest.mark.req("MCP-012", "MCP-013", "MCP-020")
@pytest.mark.parametrize("value", ["false", "true", "", 0, 1, None, 1.0, []])
def test_include_correlation_id_is_boolean(client, value):
    target = document(client, "a\n")["target_file_id"]
    answer = submit(client, target, change("a", "b"), include_correlation_id=value)
    assert (answer["status"], answer["code"]) == (
        "invalid_argument",
        "invalid_include_correlation_id",
    )
    assert answer["failure_detail"]
    assert attempts(client, target) == []


@pytest.mark.req("MCP-004", "MCP-003")
def test_pages_never_cut_a_character(client):
    text = "a\U0001f389b"
    target = document(client, text)["target_file_id"]
    pages, start = [], 0
    while start is not None:
        page = client.call("patchdiff_read_target", target_file_id=target, start=start, length=1)
        pages.append((page["text"], page["next_start"]))
        start = page["next_start"]
    assert pages == [("a", 1), ("\U0001f389", 2), ("b", None)]
    (found,) = client.call(
        "patchdiff_find_occurrences", target_file_id=target, text="b", context_chars=1
    )["occurrences"]
    assert found["before"] == "\U0001f389"


@pytest.mark.req("MCP-003", "MCP-018")
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_the_locale_does_not_matter(database_url, environment):
    client = StdioClient({"PATCHDIFF_DATABASE_URL": database_url, **environment})
    try:
        text = "\u2713\u4e2d\U0001f600\xe9"
        message = {
            "jsonrpc": "2.0",
            "id": 900,
            "method": "tools/call",
            "params": {
                "name": "patchdiff_initialize_target",
                "arguments": {"filename": text, "content": text},
            },
        }
        client.send_line(json.dumps(message, ensure_ascii=False).encode("utf-8"))
        created = client.read_tool(900).payload
        assert (created["status"], created["filename"]) == ("ok", text)
        assert content_of(client, created["target_file_id"]) == text
        answer = rejected(
            client, created["target_file_id"], change("\u2717", "x"), reason="match_absent"
        )
        assert answer["diagnostic"]["failure_context"]["text"] == text
    finally:
        assert client.close() == 0


@pytest.mark.req("MCP-003", "MCP-018")
def test_large_answers_are_one_line_each(client):
    text = "\u4e2d" * 1_000_000
    target = document(client, text)["target_file_id"]
    assert content_of(client, target) == text
    exported = client.call("patchdiff_export_target", target_file_id=target)
    assert exported["content"] == text
    for start in (0, 500_000, 999_999):
        page = client.call(
            "patchdiff_read_target", target_file_id=target, start=start, length=10**6
        )
        assert page["text"] == text[start : start + 8000]


@pytest.mark.req("MCP-016", "MCP-017", "MCP-018")
def test_calls_in_flight_at_the_end_of_input_are_answered(database_url):
    client = StdioClient({"PATCHDIFF_DATABASE_URL": database_url})
    try:
        target = document(client, "END")["target_file_id"]
        calls = []
        for version in range(30):
            arguments = {
                "target_file_id": target, "intent": "t", "edits": [change("END", f"{version} END")],
                "expected_target_version": version,
            }  # fmt: skip
            params = {"name": "patchdiff_submit_edits", "arguments": arguments}
            calls.append(client.send_request("tools/call", params))
    finally:
        status = client.close()
    answers = [client.read_tool(call).payload for call in calls]
    assert [answer["status"] for answer in answers] == ["accepted"] * 30
    assert status == 0
    assert client.read_line() == b""


@pytest.mark.req("MCP-018", "MCP-003")
def test_stdout_carries_nothing_else(database_url, admin):
    client = StdioClient(
        {"PATCHDIFF_DATABASE_URL": database_url, "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"},
        handshake=False,
    )
    try:
        client.send_line(
            b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
            b'"capabilities":{},"clientInfo":{"name":"tests","version":"1"}}}'
        )
        assert json.loads(client.read_line())["id"] == 0
        target = document(client, "one\n")["target_file_id"]
        admin.execute(
            "create function public.shout() returns trigger language plpgsql as"
            " $$ begin raise notice 'a notice of the database'; raise warning 'and a warning';"
            " return new; end $$"
        )
        admin.execute(
            "create trigger shout before insert on patchdiff.append_only_pdcp_logs for each row"
            f" when (new.target_file_id = '{target}') execute function public.shout()"
        )
        try:
            accepted(client, target, change("one", "1"))
            client.send_line(b"not json")
            assert json.loads(client.read_line())["error"]["code"] == -32700
            assert content_of(client, target) == "1\n"
            admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
                " and backend_type = 'client backend'"
            )
            assert content_of(client, target) == "1\n"
            accepted(client, target, change("1", "2"), expected_target_version=1)
        finally:
            admin.execute("drop trigger shout on patchdiff.append_only_pdcp_logs")
            admin.execute("drop function public.shout()")
    finally:
        assert client.close() == 0
    assert client.read_line() == b""
