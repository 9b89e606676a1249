"""patchdiff_submit_operations: the shape of operations, how they apply, and what is recorded."""

from __future__ import annotations

import json

import pytest

from tests.support.documents import (
    ServiceCaller,
    content_of,
    document,
    keys,
    ledger,
    sha256,
    submit,
)
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    admitted,
    match,
    propose,
    row_of,
    rows,
    span,
    turned_down,
)

TEXT = "alpha beta alpha\n"
BETA = span(6, 10, "beta", "b")
HUGE = 2**63


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


def malformed(caller, target, operations):
    answer = turned_down(caller, OPERATIONS, target, operations, "protocol_invalid")
    assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
    assert answer["validity"]["protocol_valid"] is False


@pytest.mark.req("TX2-001")
@pytest.mark.parametrize("name", ["target_file_id", "intent", "operations"])
def test_required_arguments(client, name):
    target = document(client, TEXT)["target_file_id"]
    call = {"target_file_id": target, "intent": "t", "operations": [BETA]}
    del call[name]
    result = client.call_tool(OPERATIONS, {**call, "expected_target_version": 0})
    assert result.is_error is True
    assert result.payload["code"] == "missing_argument"
    assert result.payload["missing_arguments"] == [name]
    assert client.call("patchdiff_get_pdcp_log", target_file_id=target)["entries"] == []


@pytest.mark.req("TX2-002")
def test_optional_arguments_default_to_null(client, admin):
    [tool] = [
        t for t in client.request("tools/list", {})["result"]["tools"] if t["name"] == OPERATIONS
    ]
    for name in (
        "expected_target_version", "expected_current_hash", "parent_pdcp_log_id", "attempt",
        "client_request_id",
    ):  # fmt: skip
        assert tool["inputSchema"]["properties"][name]["default"] is None
        assert name not in tool["inputSchema"]["required"]
    for guard in ({"expected_target_version": 0}, {"expected_current_hash": sha256(TEXT)}):
        target = document(client, TEXT)["target_file_id"]
        row = row_of(admin, admitted(client, OPERATIONS, target, [BETA], **guard))
        members = json.loads(row["request_envelope"])
        assert {name: value for name, value in members.items() if name.startswith("expected_")} == {
            "expected_target_version": None,
            "expected_current_hash": None,
            **guard,
        }
        assert members["parent_pdcp_log_id"] is row["parent_pdcp_log_id"] is None
        assert row["client_request_id"] is row["regeneration_attempt"] is None


@pytest.mark.req("TX2-003")
@pytest.mark.parametrize(
    "operations",
    [[], None, {}, BETA, "", "span", 5, True, [None], ["span"], [[]], [5], [BETA, True]],
)
def test_operations_is_a_non_empty_list_of_objects(caller, target, operations):
    malformed(caller, target, operations)


@pytest.mark.req("TX2-005")
@pytest.mark.parametrize(
    "op",
    [None, "", "Match", "SPAN", "span ", "replace", "replace_all", "insert", 5, True, ["span"]],
)
def test_other_ops(caller, target, op):
    malformed(caller, target, [{**BETA, "op": op}])
    malformed(caller, target, [{"op": op, "match": "beta", "replace": "b"}])


@pytest.mark.req("TX2-005", "TX2-008")
def test_op_and_the_fields_of_a_span_are_required(caller, target):
    malformed(caller, target, [{"match": "beta", "replace": "b"}])
    for name in ("op", "start", "end", "expected_text", "replace"):
        malformed(caller, target, [{field: BETA[field] for field in BETA if field != name}])
        malformed(caller, target, [match("beta", "b"), {**BETA, name: None}])
    for value in (None, 5, True, ["beta"], {}):
        malformed(caller, target, [span(6, 10, value, "b")])
        malformed(caller, target, [span(6, 10, "beta", value)])


@pytest.mark.req("TX2-007")
@pytest.mark.parametrize(
    "field",
    ["start", "end", "expected_text", "expected_before", "expected_after", "x", "", "Match"],
)
@pytest.mark.parametrize("value", [0, "beta", None])
def test_other_fields_of_a_match(caller, target, field, value):
    malformed(caller, target, [match("beta", "b", **{field: value})])


@pytest.mark.req("TX2-013", "TX2-014")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("occurrence_index", 1), ("anchor_before", "alpha"), ("anchor_after", "alpha"),
        ("match", "beta"), ("text", "beta"), ("x", 1), ("", 1), ("Start", 6), ("length", 4),
    ],
)  # fmt: skip
def test_other_fields_of_a_span(caller, target, field, value):
    malformed(caller, target, [{**BETA, field: value}])
    malformed(caller, target, [{**BETA, field: None}])


@pytest.mark.req("TX2-009", "TX2-010", "TX2-011", "TX2-012")
@pytest.mark.parametrize(
    ("start", "end"),
    [
        (True, 10), (0, True), (False, False), (6.0, 10), (6, 10.0), (6, 10.5), ("6", 10),
        (6, "10"), (None, 10), (6, None), ([6], 10), (-1, 10), (-1, -1), (0, -1), (10, 9), (1, 0),
        (HUGE, HUGE), (0, HUGE), (0, 10**40), (-(10**40), 0), (HUGE - 1, 0),
    ],
)  # fmt: skip
def test_start_and_end_are_ordered_integers_of_63_bits(caller, target, start, end):
    malformed(caller, target, [span(start, end, "", "b")])


@pytest.mark.req("TX2-011", "TX2-031")
@pytest.mark.parametrize(
    ("start", "end"), [(HUGE - 1, HUGE - 1), (0, HUGE - 1), (17, 18), (18, 18)]
)
def test_offsets_past_the_buffer_are_a_matter_of_bounds(caller, target, start, end):
    answer = turned_down(
        caller, OPERATIONS, target, [span(start, end, "", "b")], "span_out_of_bounds"
    )
    assert answer["diagnostic"]["span_check"] == "bounds"
    assert answer["validity"]["protocol_valid"] is True


@pytest.mark.req("TX2-026")
@pytest.mark.parametrize("field", ["expected_before", "expected_after"])
def test_span_context_is_filled_or_null(caller, target, field):
    for value in ("", 5, True, ["a"], {}):
        malformed(caller, target, [{**BETA, field: value}])
    admitted(caller, OPERATIONS, target, [{**BETA, field: None}])


@pytest.mark.req("TX2-004", "TX2-006")
@pytest.mark.parametrize(
    ("text", "edits", "outcome"),
    [
        ("one two\n", [("two", "2", {})], "one 2\n"),
        ("x", [("x", "", {})], ""),
        ("aaa", [("aa", "b", {})], "match_ambiguous"),
        ("aaa", [("aa", "b", {"occurrence_index": 2})], "ab"),
        ("aaa", [("aa", "b", {"occurrence_index": 3})], "disambiguation_invalid"),
        ("e\u0301", [("\xe9", "e", {})], "match_absent"),
        ("a\nb", [("a\r\nb", "x\ry", {})], "x\ny"),
        ("a b", [("a", "x", {"anchor_after": "b"}), ("b", "y", {"anchor_before": "x"})], "x y"),
        ("a b", [("a", "x", {"anchor_before": "b"})], "disambiguation_invalid"),
        ("XX", [("X", "Y", {"anchor_before": "", "anchor_after": None})], "match_ambiguous"),
        ("foo bar", [("foo bar", "baz", {}), ("bar", "q", {})], "sequential_match_invalid"),
        ("cat", [("cat", "cat dog", {}), ("cat", "cow", {"occurrence_index": 1})], "cow dog"),
        ("ab", [("a", "x", {"change_id": "k", "rationale": "r", "risk": "low"})], "xb"),
        ("ab", [("a", "x", {"change_id": "no id"})], "protocol_invalid"),
        ("ab", [("a", "x", {"risk": "none"})], "protocol_invalid"),
        ("ab", [("a", "x", {"rationale": 5})], "protocol_invalid"),
        ("ab", [("a", "x", {"occurrence_index": 1.0})], "protocol_invalid"),
        ("ab", [("a", "x", {"anchor_after": 5})], "protocol_invalid"),
        ("ab", [("", "x", {})], "protocol_invalid"),
        ("ab", [("a", None, {})], "protocol_invalid"),
        ("ab", [("a", "", {"change_id": "k"}), ("b", "", {"change_id": "k"})], "protocol_invalid"),
    ],
)  # fmt: skip
def test_a_match_is_an_edit_by_another_name(caller, text, edits, outcome):
    answers = []
    for tool, make in ((EDITS, lambda **fields: fields), (OPERATIONS, match)):
        target = document(caller, text)["target_file_id"]
        proposal = [
            make(**{"match" if tool == EDITS else "text": old}, replace=new, **fields)
            for old, new, fields in edits
        ]
        answer = propose(caller, tool, target, proposal)
        if answer["status"] == "rejected":
            assert answer["diagnostic"].pop("format") == {EDITS: "patchdiff-tx/1"}.get(
                tool, "patchdiff-tx/2"
            )
            assert answer["failure_reason"] == outcome
            assert content_of(caller, target) == text
            if outcome == "protocol_invalid":
                answer["failure_detail"] = ""  # it names edits[0] or operations[0]
        else:
            assert content_of(caller, target) == outcome
        answers.append({**answer, "target_file_id": "", "pdcp_log_id": ""})
    assert answers[0] == answers[1]
    assert list(answers[0]) == list(answers[1])


@pytest.mark.req("TX2-004", "TX2-045")
def test_the_fields_of_a_span_answer(caller, target):
    edited = document(caller, TEXT)["target_file_id"]
    answer = admitted(caller, OPERATIONS, target, [BETA], client_request_id="k")
    plain = submit(caller, edited, {"match": "beta", "replace": "b"}, client_request_id="k")
    assert list(answer) == list(plain)
    assert answer["evidence"]["changes"] == [
        {**plain["evidence"]["changes"][0], "operation": "span"}
    ]
    assert {**answer, "target_file_id": 0, "pdcp_log_id": 0, "evidence": 0} == {
        **plain, "target_file_id": 0, "pdcp_log_id": 0, "evidence": 0
    }  # fmt: skip
    refusal = propose(caller, OPERATIONS, target, [BETA], expected_target_version=0)
    assert list(refusal) == list(submit(caller, edited, {"match": "beta", "replace": "b"}))
    failed = propose(caller, OPERATIONS, target, [span(0, 1, "x", "")], expected_target_version=1)
    assert keys(failed) == keys(refusal)
    assert failed["diagnostic"]["format"] == "patchdiff-tx/2"
    assert failed["failed_change_id"] == "chg_001"


@pytest.mark.req("TX2-030")
@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        (match("nowhere", "x"), "match_absent"),
        (match("w", "x"), "match_ambiguous"),
        (span(0, 2, "zz", ""), "span_expected_text_mismatch"),
        (span(0, 999, "", ""), "span_out_of_bounds"),
    ],
)
@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_mixed_transaction_is_atomic(caller, admin, failing, reason, place):
    text = "w0 w1 w2 w3 w4 w5"
    working = [
        match(f"w{number}", f"v{number}") if number % 2 else
        span(3 * number, 3 * number + 2, f"w{number}", f"u{number}")
        for number in range(6)
    ]  # fmt: skip
    operations = [*working[:place], {**failing, "change_id": "bad"}, *working[place:]]
    if place == 6 and reason == "match_ambiguous":
        operations[-1]["match"] = "v"
    target = document(caller, text)["target_file_id"]
    answer = turned_down(caller, OPERATIONS, target, operations, reason)
    assert answer["failed_change_id"] == "bad"
    assert "evidence" not in answer
    assert ledger(caller, target) == []
    assert [row["after_version"] for row in rows(admin, target)] == [None]
    admitted(caller, OPERATIONS, target, working)
    assert content_of(caller, target) == "u0 v1 u2 v3 u4 v5"


@pytest.mark.req("TX2-040", "TX2-041", "TX2-043", "TX2-044")
@pytest.mark.parametrize(
    ("operations", "runtime"),
    [
        ([BETA], "0.3.0"),
        ([match("beta", "b", anchor_before="alpha")], "0.3.0"),
        ([match("beta", "expected_before"), span(0, 1, "a", '{"expected_after": null}')], "0.3.0"),
        ([{**BETA, "expected_before": None}], "0.5.0"),
        ([{**BETA, "expected_after": None}], "0.5.0"),
        ([match("beta", "b"), BETA, span(1, 1, "", "", expected_after="l")], "0.5.0"),
        ([span(0, 1, "nope", "x")], "0.3.0"),
        ([span(0, 1, "a", "x", expected_after="nope")], "0.5.0"),
        ([span(0, 1, "a", "x", expected_after="")], "0.5.0"),
        ([match("beta", "b", expected_before="alpha ")], "0.3.0"),
        ([], "0.3.0"),
        (None, "0.3.0"),
        ([None, 5], "0.3.0"),
    ],
)  # fmt: skip
def test_what_the_row_says(caller, admin, target, operations, runtime):
    answer = propose(caller, OPERATIONS, target, operations, intent="a \u4e2d")
    row = row_of(admin, answer)
    assert row["protocol_version"] == "patchdiff-tx/2"
    assert row["runtime_version"] == f"patchdiff-mvp-{runtime}"
    record = {"protocol": "patchdiff-tx/2", "intent": "a \u4e2d", "operations": operations}
    assert row["pdcp_content"] == json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    assert row["pdcp_content_hash"] == sha256(row["pdcp_content"])
    [entry] = caller.call("patchdiff_get_pdcp_log", target_file_id=target)["entries"]
    assert (entry["protocol_version"], entry["runtime_version"]) == (
        "patchdiff-tx/2",
        f"patchdiff-mvp-{runtime}",
    )


@pytest.mark.req("TX2-045", "LEDG-017", "LEDG-019")
def test_facts_and_ledger_rows(caller):
    text = "\U0001f600 one two\n"
    target = document(caller, text)["target_file_id"]
    operations = [
        span(2, 5, "one", "1\r\n", rationale="why", risk="high", change_id="first"),
        match("two", "2"),
        span(6, 6, "", "\u4e2d"),
    ]
    answer = admitted(caller, OPERATIONS, target, operations, intent="whole")
    spans = [("one", "1\n", 2), ("two", "2", 5), ("", "\u4e2d", 6)]
    facts = [
        {
            "change_id": "first" if index == 1 else f"chg_{index:03}",
            "change_index": index,
            **({} if index == 2 else {"operation": "span"}),
            "span_start": start,
            "span_end": start + len(old),
            "matched_chars": len(old),
            "replacement_chars": len(new),
            "matched_sha256": sha256(old),
            "replacement_sha256": sha256(new),
        }
        for index, (old, new, start) in enumerate(spans, 1)
    ]
    assert answer["evidence"] == {"changes": facts}
    assert content_of(caller, target) == "\U0001f600 1\n 2\u4e2d\n"
    entries = ledger(caller, target)
    assert [entry["derived"] for entry in entries] == facts
    assert [entry["origin"] for entry in entries] == ["typed"] * 3
    assert [entry["intent"] for entry in entries] == ["why", "whole", "whole"]
    assert [entry["risk"] for entry in entries] == ["high", None, None]
    assert answer["manifest_entries_added"] == 3
