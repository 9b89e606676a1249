"""Text that PostgreSQL cannot hold: audited for submissions, refused elsewhere, exactly kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.documents import (
    UNKNOWN_ID,
    UUID_PATTERN,
    ServiceCaller,
    attempts,
    change,
    content_of,
    document,
    row_counts,
)
from tests.support.proposals import (
    EDITS,
    FIELDS,
    OPERATIONS,
    REPLACEMENT,
    TOOLS,
    admitted,
    match,
    propose,
    row_of,
    rows,
    simple,
    span,
    turned_down,
)

TEXT = "alpha beta\n"
HIGH, LOW, NUL = "\ud800", "\udfff", "\0"
INVALID = (HIGH, LOW, NUL, "a\udbff", "\udc00b", "\udc00\ud800", "\U0001f600\ud83d", "x\0y")


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


def strings(value):
    """Every string in a JSON value, names included, as a sorted list."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        parts = [part for pair in value.items() for item in pair for part in strings(item)]
        return sorted(parts)
    if isinstance(value, list):
        return sorted(part for item in value for part in strings(item))
    return []


def is_clean(value):
    """Whether no string in the JSON value holds a lone surrogate or a NUL."""
    return not any("\0" in text or any("\ud800" <= c <= "\udfff" for c in text)
                   for text in strings(value))  # fmt: skip


def invalid(caller, admin, tool, target, proposal, **arguments):
    """Submit invalid text; returns the answer, held with its row to what every one must be."""
    answer = turned_down(caller, tool, target, proposal, "target_encoding_invalid", **arguments)
    diagnostic = answer["diagnostic"]
    assert diagnostic["validation_stage"] == "protocol_validation"
    assert diagnostic["retryable"] is False
    assert UUID_PATTERN.fullmatch(answer["pdcp_log_id"])
    assert is_clean({**answer, "client_request_id": None})
    row = row_of(admin, answer)
    assert row["diagnostic_json"] == diagnostic
    assert is_clean(row)
    content = row["pdcp_content"]
    assert content.isascii()
    assert content.isprintable()
    evidence = json.loads(content)
    assert evidence["protocol"] == "patchdiff-invalid-input/1"
    kept = strings(evidence)
    for text in strings([{FIELDS[tool]: proposal}, list(arguments.values())]):
        assert text in kept
        kept.remove(text)
    return answer


def places(tool, bad):
    """Proposals and arguments of the tool that hold ``bad`` in one place each."""
    whole = simple(tool, TEXT, "x")
    yield whole, {"intent": bad}
    yield whole, {"source": bad}
    yield whole, {"client_request_id": bad}
    yield whole, {"parent_pdcp_log_id": bad}
    yield whole, {"expected_current_hash": bad}
    if tool == REPLACEMENT:
        yield bad, {}
        return
    make = change if tool == EDITS else match
    yield [make(bad, "x")], {}
    yield [make("beta", bad)], {}
    for name in ("change_id", "rationale", "risk", "anchor_before", "anchor_after", bad):
        yield [make("alpha", "a"), make("beta", "b", **{name: bad})], {}
    if tool == OPERATIONS:
        yield [span(0, 1, bad, "")], {}
        yield [span(0, 1, "a", bad)], {}
        for name in ("op", "expected_before", "expected_after", "change_id", "rationale"):
            yield [{**span(0, 1, "a", ""), name: bad}], {}


@pytest.mark.req(
    "TEXT-001", "TEXT-002", "TEXT-003", "TEXT-004", "TEXT-005", "TEXT-006", "TEXT-007", "TEXT-008",
    "TEXT-009",
)  # fmt: skip
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("bad", INVALID, ids=ascii)
def test_every_place_of_a_submission(caller, admin, target, tool, bad):
    count = 0
    for proposal, arguments in places(tool, bad):
        invalid(caller, admin, tool, target, proposal, **arguments)
        count += 1
    assert [row["status"] for row in rows(admin, target)] == ["rejected"] * count
    assert content_of(caller, target) == TEXT


# The arguments of every submission tool beside the target and the ones that all share.
SUBMISSIONS = {tool: {FIELDS[tool]: simple(tool, TEXT, "x")} for tool in TOOLS}
SUBMISSIONS["patchdiff_submit_observed_operations"] = {"operations": simple(OPERATIONS, TEXT, "x")}


@pytest.mark.req("TEXT-012", "TEXT-005", "TEXT-007")
@pytest.mark.parametrize("bad", [HIGH, NUL], ids=ascii)
def test_every_submission_tool_over_the_wire(client, admin, bad):
    listed = [tool["name"] for tool in client.request("tools/list", {})["result"]["tools"]]
    done = []
    for tool in listed:
        if not tool.startswith("patchdiff_submit_"):
            continue
        target = document(client, TEXT)["target_file_id"]
        result = client.call_tool(
            tool,
            {
                "target_file_id": target,
                "intent": f"intent {bad}",
                "expected_target_version": 0,
                **SUBMISSIONS[tool],
            },
        )
        assert result.is_error is False
        assert result.payload["failure_reason"] == "target_encoding_invalid"
        [row] = rows(admin, target)
        assert row["pdcp_log_id"] == result.payload["pdcp_log_id"]
        assert f"intent {bad}" in strings(json.loads(row["pdcp_content"]))
        done.append(tool)
    assert len(done) == 4


SURROGATES = st.characters(categories=("Cs",))
BROKEN = st.text(st.one_of(st.characters(), SURROGATES, st.sampled_from('\0\\"u0\n')), max_size=8)


@pytest.mark.req("TEXT-007", "TEXT-008")
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(BROKEN, min_size=8, max_size=8), st.sampled_from(INVALID))
def test_evidence_gives_back_what_was_sent(caller, admin, texts, bad):
    target = document(caller, TEXT)["target_file_id"]
    intent, source, change_id, name, *spans = texts
    proposal = [
        {
            **span(0, 1, spans[0], spans[1]),
            "change_id": change_id,
            "rationale": [name, {name: bad}],
        },
        match(spans[2], spans[3]),
    ]
    answer = propose(caller, OPERATIONS, target, proposal, intent=intent, source=source)
    assert answer["failure_reason"] == "target_encoding_invalid"
    [row] = rows(admin, target)
    evidence = json.loads(row["pdcp_content"])
    assert row["pdcp_content"].isascii()
    assert is_clean(answer)
    kept = strings(evidence)
    for text in strings([proposal, intent, source]):
        assert text in kept
        kept.remove(text)


@pytest.mark.req("TEXT-010", "TEXT-011")
def test_invalid_text_is_judged_first(caller, admin, target):
    for arguments in (
        {"expected_target_version": 7}, {"expected_target_version": None}, {"attempt": 0},
        {"expected_target_version": -1}, {"expected_current_hash": "x"}, {"source": 5},
        {"parent_pdcp_log_id": "x"}, {"client_request_id": ""}, {"client_request_id": "k\n"},
    ):  # fmt: skip
        for tool in TOOLS:
            proposal = simple(tool, TEXT, "x")
            invalid(caller, admin, tool, target, proposal, intent=HIGH, **arguments)
    for tool, proposals in (
        (EDITS, ([], None, {}, 5, "x", [None], [{"match": 5}])),
        (OPERATIONS, ([], None, [{"op": "x"}])),
        (REPLACEMENT, (None, 5, [])),
    ):
        for proposal in proposals:
            invalid(caller, admin, tool, target, proposal, intent=NUL)
    invalid(caller, admin, EDITS, target, [change("beta", "b"), {"match": 5, NUL: 1}], intent=5)
    admitted(caller, EDITS, target, [change("beta", "b")], client_request_id="used")
    invalid(caller, admin, EDITS, target, [], intent=LOW, client_request_id="used")


@pytest.mark.req("TEXT-010")
def test_invalid_text_on_a_diverged_target(caller, admin, target):
    admin.execute(
        "update patchdiff.cloud_target_files set current_content = 'x' where target_file_id = %s",
        [target],
    )
    invalid(caller, admin, EDITS, target, [change("beta", "b")], intent=NUL)


@pytest.mark.req("TEXT-014")
@pytest.mark.parametrize("identifier", [UNKNOWN_ID, "x", "", HIGH, NUL, UNKNOWN_ID + NUL, 5, None])
def test_an_unknown_target_gets_no_row(caller, admin, identifier):
    before = row_counts(admin)
    for tool in TOOLS:
        answer = propose(caller, tool, identifier, simple(tool, TEXT, "x"), intent=HIGH)
        assert answer["status"] == "rejected"
        assert answer["failure_reason"] == "target_encoding_invalid"
        assert answer["pdcp_log_id"] is None
        assert answer["diagnostic"]["retryable"] is False
        assert answer["diagnostic"]["failure_context"]["available"] is False
        assert answer["current_context"]["available"] is False
    assert row_counts(admin) == before


@pytest.mark.req("TEXT-013")
@pytest.mark.parametrize("bad", INVALID, ids=ascii)
def test_reads_and_searches_refuse(client, admin, bad):
    target = document(client, TEXT)["target_file_id"]
    before = row_counts(admin)
    for tool, arguments in (
        ("patchdiff_find_occurrences", {"text": bad}),
        ("patchdiff_find_occurrences", {"text": f"alpha{bad}"}),
        ("patchdiff_export_target", {"format": bad}),
        ("patchdiff_get_pdcp_log", {"content_hash": bad}),
        ("patchdiff_get_pdcp_log", {"client_request_id": bad}),
        ("patchdiff_get_pdcp_log", {"status": bad}),
    ):
        answer = client.call(tool, target_file_id=target, **arguments)
        assert answer["status"] == "invalid_argument", (tool, answer)
        assert answer["failure_detail"]
    for tool in ("read_target", "read_lines", "get_target", "get_pdcp_log", "get_manifest_ledger"):
        answer = client.call(f"patchdiff_{tool}", target_file_id=f"{target}{bad}")
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
    assert row_counts(admin) == before
    assert attempts(client, target) == []


@pytest.mark.req("TEXT-015")
def test_two_escapes_of_a_pair_are_one_character(client, admin):
    target = document(client, "a\U0001f600b")["target_file_id"]
    call = {
        "name": EDITS,
        "arguments": {
            "target_file_id": target,
            "intent": "t",
            "edits": [{"match": "MARK", "replace": "x"}],
            "expected_target_version": 0,
        },
    }
    message = {"jsonrpc": "2.0", "id": "pair", "method": "tools/call", "params": call}
    for pair, status in (
        (b"\\ud83d\\ude00", "accepted"), (b"\\uD83D\\uDE00", "match_absent"),
        (b"\\ude00\\ud83d", "target_encoding_invalid"), (b"\\ud83d", "target_encoding_invalid"),
        (b"\\ud83d \\ude00", "target_encoding_invalid"),
    ):  # fmt: skip
        client.send_line(json.dumps(message).encode().replace(b"MARK", pair))
        [payload] = [
            json.loads(part["text"]) for part in client.read_answer("pair")["result"]["content"]
        ]
        assert payload.get("failure_reason", payload["status"]) == status
        call["arguments"]["expected_target_version"] = payload["current_version"]
    assert content_of(client, target) == "axb"
    assert rows(admin, target)[0]["status"] == "accepted"
