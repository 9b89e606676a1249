"""Every argument of every tool with values that break careless servers; each has the contract's
answer."""

from __future__ import annotations

import json
import uuid

import pytest

from tests.support.documents import (
    UNKNOWN_ID,
    accepted,
    attempts,
    change,
    content_of,
    document,
    rejected,
    row_counts,
    sha256,
    state,
    submit,
)

HUGE = "x" * 2_000_000
INVALID_TEXTS = {
    "high surrogate": "\ud800",
    "low surrogate": "a\udfffb",
    "reversed pair": "\udc00\ud800",
    "nul": "a\0b",
}
WRONG_TYPES = {"number": 5, "fraction": 1.5, "boolean": True, "list": ["x"], "object": {"x": 1}}
HOSTILE = {**INVALID_TEXTS, **WRONG_TYPES, "null": None, "huge": HUGE}
TEXT = "alpha beta alpha\n"

REFUSED = {"invalid_argument"}
EITHER = {"ok", "invalid_argument"}
# Tool and argument: the statuses that a null and a text of two million characters may have.
# All else is refused.
READ_STRINGS = {
    ("patchdiff_initialize_target", "filename"): (REFUSED, EITHER),
    ("patchdiff_initialize_target", "content"): (REFUSED, {"ok"}),
    ("patchdiff_initialize_target", "content_type"): (EITHER, EITHER),
    ("patchdiff_initialize_target", "project_id"): ({"ok"}, REFUSED),
    ("patchdiff_handle_upload", "filename"): (REFUSED, EITHER),
    ("patchdiff_handle_upload", "content"): (REFUSED, {"ok"}),
    ("patchdiff_handle_upload", "content_type"): (EITHER, EITHER),
    ("patchdiff_handle_upload", "project_id"): ({"ok"}, REFUSED),
    ("patchdiff_get_target", "target_file_id"): (REFUSED, REFUSED),
    ("patchdiff_export_target", "target_file_id"): (REFUSED, REFUSED),
    ("patchdiff_export_target", "format"): (REFUSED, REFUSED),
    ("patchdiff_read_target", "target_file_id"): (REFUSED, REFUSED),
    ("patchdiff_read_lines", "target_file_id"): (REFUSED, REFUSED),
    ("patchdiff_find_occurrences", "target_file_id"): (REFUSED, REFUSED),
    ("patchdiff_find_occurrences", "text"): (REFUSED, {"ok"}),
    ("patchdiff_get_pdcp_log", "target_file_id"): (REFUSED, REFUSED),
    ("patchdiff_get_pdcp_log", "status"): ({"ok"}, REFUSED),
    ("patchdiff_get_pdcp_log", "content_hash"): ({"ok"}, {"ok"}),
    ("patchdiff_get_pdcp_log", "client_request_id"): ({"ok"}, {"ok"}),
    ("patchdiff_get_manifest_ledger", "target_file_id"): (REFUSED, REFUSED),
}
CODES = {"target_file_id": "invalid_target_id", "format": "unsupported_export_format"}


def complete_call(tool, target):
    """Arguments with which the tool succeeds."""
    if tool in ("patchdiff_initialize_target", "patchdiff_handle_upload"):
        return {"filename": "a", "content": "b", "content_type": "text/plain"}
    return {
        "target_file_id": target,
        **({"text": "a"} if tool == "patchdiff_find_occurrences" else {}),
    }


@pytest.fixture(scope="module")
def target(client):
    return document(client, TEXT)["target_file_id"]


@pytest.mark.req("MCP-012", "MCP-013", "MCP-018")
@pytest.mark.parametrize(("tool", "argument"), READ_STRINGS)
def test_strings_of_the_reading_tools(client, target, tool, argument):
    before = state(client, target)
    for_null, for_huge = READ_STRINGS[tool, argument]
    for name, value in HOSTILE.items():
        result = client.call_tool(tool, {**complete_call(tool, target), argument: value})
        assert result.is_error is False, name
        status = result.payload.get("status", "ok")
        assert status in {"null": for_null, "huge": for_huge}.get(name, REFUSED), (
            name,
            result.text[:300],
        )
        if status == "invalid_argument":
            assert argument in result.payload["failure_detail"], name
            assert len(result.text) < 4000, f"{name}: the refusal repeats the value"
            if argument in CODES:
                assert result.payload["code"] == CODES[argument], name
    assert client.call(tool, **complete_call(tool, target)).get("status", "ok") == "ok"
    assert state(client, target) == before
    assert attempts(client, target) == []


# Argument of patchdiff_submit_edits, or edits[0].<field>: what a wrong type, a null and a huge text
# lead to; "accepted", or the reason and code of the rejection.
ACCEPTED = ("accepted", None)
SHAPE = ("protocol_invalid", None)
KEY = ("context_invalid", "invalid_client_request_id")
PARENT = ("context_invalid", "invalid_parent")
SUBMITTED_STRINGS = {
    "intent": (SHAPE, SHAPE, ACCEPTED),
    "expected_current_hash": (("context_invalid", None), ACCEPTED, ("context_invalid", None)),
    "client_request_id": (KEY, ACCEPTED, KEY),
    "parent_pdcp_log_id": (PARENT, ACCEPTED, PARENT),
    "source": (("context_invalid", None), ("context_invalid", None), ACCEPTED),
    "edits[0].match": (SHAPE, SHAPE, ("match_absent", None)),
    "edits[0].replace": (SHAPE, SHAPE, ACCEPTED),
    "edits[0].change_id": (SHAPE, ACCEPTED, SHAPE),
    "edits[0].rationale": (SHAPE, ACCEPTED, ACCEPTED),
    "edits[0].risk": (SHAPE, ACCEPTED, SHAPE),
    "edits[0].anchor_before": (SHAPE, ACCEPTED, ("disambiguation_invalid", None)),
    "edits[0].anchor_after": (SHAPE, ACCEPTED, ("disambiguation_invalid", None)),
}  # fmt: skip


@pytest.mark.req("SUBM-014", "SUBM-016", "SUBM-020", "SUBM-021", "MCP-014")
@pytest.mark.parametrize("argument", SUBMITTED_STRINGS)
def test_strings_of_a_submission(client, argument):
    for_type, for_null, for_huge = SUBMITTED_STRINGS[argument]
    target, version = document(client, TEXT)["target_file_id"], 0
    for name, value in HOSTILE.items():
        edit, arguments = change("beta", "beta"), {"expected_target_version": version}
        if argument.startswith("edits[0]."):
            edit[argument.removeprefix("edits[0].")] = value
        else:
            arguments[argument] = value
        expected = {"null": for_null, "huge": for_huge}.get(name, for_type)
        if name in INVALID_TEXTS:
            expected = ("target_encoding_invalid", None)
        if expected == ACCEPTED:
            if (argument, name) == ("edits[0].replace", "huge"):
                target, version = document(client, TEXT)["target_file_id"], 0
                arguments["expected_target_version"] = 0
            answer = accepted(client, target, edit, **arguments)
            version = answer["version"]
            continue
        reason, code = expected
        answer = rejected(client, target, edit, reason=reason, code=code, **arguments)
        if name in INVALID_TEXTS:
            assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
            assert answer["diagnostic"]["retryable"] is False
            record = attempts(client, target, limit=1, include_content=True)[0]["pdcp_content"]
            assert record.isascii()
            evidence = json.loads(record)
            assert evidence["protocol"] == "patchdiff-invalid-input/1"
            assert value in strings_of(evidence), "the evidence does not give the value back"
    accepted(client, document(client, TEXT)["target_file_id"], change("beta", "b"))


def strings_of(value):
    """Every string inside a JSON value, names of fields included."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set().union(*(strings_of(each) for pair in value.items() for each in pair))
    if isinstance(value, list):
        return set().union(*map(strings_of, value))
    return set()


@pytest.mark.req("SUBM-018")
@pytest.mark.parametrize("name", [*HOSTILE, "unknown"])
def test_the_target_of_a_submission(client, admin, name):
    value = {**HOSTILE, "unknown": UNKNOWN_ID}[name]
    before = row_counts(admin)
    answer = submit(client, value, change("a", "b"))
    reason = "target_not_found" if name == "unknown" else "invalid_target_id"
    assert (answer["status"], answer["failure_reason"], answer["pdcp_log_id"]) == (
        "rejected",
        reason,
        None,
    )
    assert row_counts(admin) == before


@pytest.mark.req("SUBM-014", "TX1-005")
@pytest.mark.parametrize("name", ["\ud800", "a\0b", "x" * 100_000, "\u2028", "__proto__"])
def test_hostile_field_names_of_an_edit(client, name):
    target = document(client, TEXT)["target_file_id"]
    answer = submit(client, target, change("beta", "b", **{name: "x"}))
    assert (answer["status"], content_of(client, target)) == ("rejected", TEXT)
    invalid = name in ("\ud800", "a\0b")
    assert answer["failure_reason"] == (
        "target_encoding_invalid" if invalid else "protocol_invalid"
    )
    assert attempts(client, target)[0]["pdcp_log_id"] == answer["pdcp_log_id"]


@pytest.mark.req("SUBM-010", "SUBM-011", "SUBM-005")
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (-1, "context_invalid"),
        (-(10**400), "context_invalid"),
        (10**400, "context_invalid"),
        (2**64, "context_invalid"),
        (2**63, "context_invalid"),
        (2**63 - 1, "target_version_mismatch"),
        (1, "target_version_mismatch"),
        (True, "context_invalid"),
        (False, "context_invalid"),
        (0.0, "context_invalid"),
    ],
)
def test_guards(client, version, reason):
    target = document(client, TEXT)["target_file_id"]
    rejected(client, target, change("beta", "b"), reason=reason, expected_target_version=version)


@pytest.mark.req("SUBM-020")
@pytest.mark.parametrize("attempt", [0, -1, 2**63, 10**400, True, False, "1", 1.0, 1.5, [1], {}])
def test_bad_attempt_numbers(client, attempt):
    target = document(client, TEXT)["target_file_id"]
    edit = change("beta", "b")
    rejected(
        client, target, edit, reason="context_invalid", code="invalid_attempt", attempt=attempt
    )
    accepted(client, target, edit, attempt=1)


@pytest.mark.req("SUBM-020")
def test_parents(client):
    target, other = (document(client, TEXT)["target_file_id"] for _ in range(2))
    absent, edit = change("absent", "x"), change("beta", "b")
    parent = rejected(client, target, absent, reason="match_absent")["pdcp_log_id"]
    foreign = rejected(client, other, absent, reason="match_absent")["pdcp_log_id"]
    done = accepted(client, target, change("alpha", "alpha", occurrence_index=1))["pdcp_log_id"]
    for bad in (
        foreign,
        done,
        str(uuid.uuid4()),
        target,
        parent.upper(),
        parent.replace("-", ""),
        "",
        " ",
        "0" * 36,
    ):
        if bad != parent:
            arguments = {"parent_pdcp_log_id": bad, "expected_target_version": 1}
            rejected(
                client, target, edit, reason="context_invalid", code="invalid_parent", **arguments
            )
    accepted(client, target, edit, parent_pdcp_log_id=parent, attempt=1, expected_target_version=1)


@pytest.mark.req("SUBM-020")
@pytest.mark.parametrize(
    ("key", "valid"),
    [
        ("k", True), (" ", True), ("~!\"'\\ ;--", True), ("k" * 128, True),
        ("", False), ("k" * 129, False), ("k\n", False), ("k\x7f", False), ("k\t", False),
        ("\xe9", False), ("\u2028", False),
    ],
)  # fmt: skip
def test_request_keys(client, key, valid):
    target = document(client, TEXT)["target_file_id"]
    edit = change("beta", "b")
    if valid:
        assert accepted(client, target, edit, client_request_id=key)["client_request_id"] == key
        assert submit(client, target, edit, client_request_id=key)["deduplicated"] is True
        assert len(attempts(client, target)) == 1
    else:
        code = "invalid_client_request_id"
        rejected(client, target, edit, reason="context_invalid", code=code, client_request_id=key)


@pytest.mark.req("MCP-018", "SUBM-021")
@pytest.mark.parametrize("depth", [50, 900, 5000, 200_000])
def test_deep_nesting(client, depth):
    target = document(client, TEXT)["target_file_id"]
    nested = "[" * depth + "]" * depth
    for arguments in (
        f'"intent":"t","edits":[{{"match":"beta","replace":"b","rationale":{nested}}}]',
        f'"intent":"t","edits":{nested}',
        f'"intent":{nested},"edits":[{{"match":"beta","replace":"b"}}]',
        f'"intent":"t","edits":[{{"match":"beta","replace":"b"}}],"source":{nested}',
    ):
        line = (
            '{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"patchdiff_submit_edits",'
            f'"arguments":{{"target_file_id":"{target}","expected_target_version":0,{arguments}}}}}}}'
        )
        client.send_line(line.encode())
        answer = json.loads(client.read_line())
        if "result" in answer:
            assert json.loads(answer["result"]["content"][0]["text"])["status"] == "rejected"
        else:
            assert answer["error"]["code"] == -32700
    assert content_of(client, target) == TEXT
    accepted(client, target, change("beta", "b"))


@pytest.mark.req("MCP-018", "SUBM-021")
@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e400", "1" * 5000, "-0", "0e0"]
)
def test_odd_numbers(client, number):
    target = document(client, TEXT)["target_file_id"]
    line = (
        '{"jsonrpc":"2.0","id":"odd","method":"tools/call","params":{"name":"patchdiff_submit_edits","arguments":'
        f'{{"target_file_id":"{target}","intent":"t","edits":[{{"match":"beta","replace":"b"}}],'
        f'"expected_current_hash":"{sha256(TEXT)}","expected_target_version":{number}}}}}}}'
    )
    client.send_line(line.encode())
    answer = json.loads(client.read_line())
    if number == "-0":  # JSON's own spelling of the integer zero
        assert json.loads(answer["result"]["content"][0]["text"])["status"] == "accepted"
    else:
        if "result" in answer:
            assert (
                json.loads(answer["result"]["content"][0]["text"])["failure_reason"]
                == "context_invalid"
            )
        else:
            assert answer["error"]["code"] == -32700
        assert content_of(client, target) == TEXT
