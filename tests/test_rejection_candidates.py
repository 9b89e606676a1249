"""Exact candidates, consumed matches, and the common byte budget of all evidence."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.support.documents import ServiceCaller, change, document, rejected, sha256, submit
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    json_bytes,
    match,
    propose,
    row_of,
    span,
    turned_down,
)

TEXT = "alpha beta alpha\n"
KEY = "k"


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.mark.req("EVID-052", "EVID-061", "EVID-053", "EVID-055", "EVID-060", "EVID-062")
@pytest.mark.parametrize("count", [2, 5, 6, 300])
def test_find_occurrences_continues_the_candidates(caller, count):
    text = "\U0001f600aa" + "a" * (count - 1)
    target = document(caller, text)["target_file_id"]
    for edit, reason in (
        (change("aa", "b"), "match_ambiguous"),
        (change("aa", "b", anchor_before="\U0001f600" * 2), "disambiguation_invalid"),
        (change("aa", "b", occurrence_index=count + 1), "disambiguation_invalid"),
    ):
        answer = rejected(caller, target, edit, reason=reason)
        found = answer["diagnostic"]["exact_candidates"]
        spans = [(item["start"], item["end"]) for item in found["candidates"]]
        following = found["next_occurrence_index"]
        assert following == (None if count <= 5 else 6)
        assert found["truncated"] is (count > 5)
        while following is not None:
            page = caller.call(
                "patchdiff_find_occurrences",
                target_file_id=target, text="aa", start_occurrence=following,
            )  # fmt: skip
            spans += [(item["start"], item["end"]) for item in page["occurrences"]]
            following = page["next_occurrence_index"]
        assert spans == [(start, start + 2) for start in range(1, 1 + count)]
    assert "exact_candidates" not in submit(caller, target, change("b", ""))["diagnostic"]


@pytest.mark.req("EVID-063", "EVID-064")
def test_candidates_after_earlier_changes(caller):
    target = document(caller, "b x x\n")["target_file_id"]
    answer = rejected(
        caller, target, change("b", "\U0001f600\U0001f600"), change("x", "y"),
        reason="match_ambiguous",
    )  # fmt: skip
    found = answer["diagnostic"]["exact_candidates"]
    assert (found["buffer_stage"], found["prior_changes"]) == ("intermediate_buffer", 1)
    assert [(item["start"], item["end"], item["before"]) for item in found["candidates"]] == [
        (3, 4, "\U0001f600\U0001f600 "),
        (5, 6, "\U0001f600\U0001f600 x "),
    ]
    assert found["observed_target_hash"] == sha256("b x x\n")
    assert "1 simulated change" in answer["failure_detail"]


@pytest.mark.req("EVID-065", "EVID-066", "EVID-067", "EVID-068", "EVID-069", "EVID-070", "EVID-071")
def test_a_consumed_match(caller, admin):
    text = "\U0001f600foo bar bar foo bar\n"
    target = document(caller, text)["target_file_id"]
    edits = [
        change("\U0001f600foo", "", change_id="drop"),
        change(" bar bar", "", change_id="two"),
        change("bar", "Bar", change_id="three"),
        change("bar", "qux"),
    ]
    answer = rejected(caller, target, *edits, reason="sequential_match_invalid")
    assert answer["failed_change_id"] == "chg_004"
    detail = "MATCH text was consumed by earlier change in this transaction."
    assert answer["failure_detail"] == detail
    diagnostic = answer["diagnostic"]
    assert diagnostic["original_occurrence_count"] == 3
    by = ("consumed_by_change_id", "consumed_by_change_index")
    assert diagnostic["original_occurrences"] == [
        {"start": 5, "end": 8, **dict(zip(by, ("two", 2), strict=True))},
        {"start": 9, "end": 12, **dict(zip(by, ("two", 2), strict=True))},
        {"start": 17, "end": 20, **dict(zip(by, ("three", 3), strict=True))},
    ]
    for found in (answer, propose(caller, EDITS, target, edits)):
        assert found["near_misses"]["omission_reason"] == "sequential_match_consumed"
        assert found["near_misses"]["candidates"] == []
    row = row_of(admin, answer)
    assert row["diagnostic_json"] == diagnostic
    assert "near_miss" not in json.dumps(row)
    # nothing overlapped: the text was never there
    rejected(caller, target, *edits[:3], change("nowhere", ""), reason="match_absent")


@pytest.mark.req("EVID-065", "EVID-072", "EVID-073")
@pytest.mark.parametrize(
    ("earlier", "consumer"),
    [
        ([span(1, 1, "", "-")], 1),
        ([span(0, 0, "", "-"), span(2, 2, "", "-")], 2),
        ([span(1, 2, "b", "")], 1),
        ([span(2, 3, "c", ""), span(0, 1, "a", "")], 1),
        ([match("c", "C"), match("a", "A")], 1),
        ([span(0, 4, "abcd", "x")], 1),
        ([span(1, 1, "", ""), span(0, 1, "a", "")], 2),
        ([span(1, 2, "b", "b"), span(0, 1, "a", "")], 1),
    ],
)
def test_who_consumed_a_match(caller, earlier, consumer):
    target = document(caller, "abcd")["target_file_id"]
    operations = [*earlier, match("abc", "x")]
    answer = turned_down(caller, OPERATIONS, target, operations, "sequential_match_invalid")
    assert answer["diagnostic"]["original_occurrences"] == [
        {
            "start": 0,
            "end": 3,
            "consumed_by_change_id": f"chg_{consumer:03}",
            "consumed_by_change_index": consumer,
        }
    ]


# What this contract added to a rejection, wherever it stands.
ENRICHMENT = {
    "failure_context", "current_context", "exact_candidates", "near_misses", "near_miss_query",
    "original_occurrences", "original_occurrence_count", "span_check", "buffer_length",
    "actual_text", "actual_text_truncated", "expected_chars", "actual_chars", "retryable",
    "existing_pdcp_log_id", "submitted_key_preview", "differing_components", "differing_fields",
    "differing_fields_truncated", "invalid_text", "invalid_text_count", "invalid_text_truncated",
}  # fmt: skip
ASTRAL = "\U0001f600"


def enrichment_bytes(answer):
    fields = {**answer["diagnostic"], **{name: answer.get(name) for name in answer}}
    return json_bytes({name: fields[name] for name in fields if name in ENRICHMENT})


@pytest.mark.req("EVID-077", "EVID-037", "EVID-038", "EVID-059")
@pytest.mark.parametrize(
    "operations",
    [
        [match(ASTRAL * 100, "")],
        [match(ASTRAL, "")],
        [span(0, 0, "", "x"), match(ASTRAL * 64, "")],
        [match("y" + ASTRAL * 63, "")],
        [match("\U0001f601" * 4 + ASTRAL * 60, "")],
        [span(0, 200, "x", "")],
        [span(0, 0, "", "x"), span(1_000, 1_001, "x", "", expected_before="x")],
        [span(0, 500, ASTRAL * 500, "x"), span(1, 501, ASTRAL * 500, ""), match(ASTRAL * 999, "")],
        [{"x" * 50_000: 1}],
        [{ASTRAL + "\0" * 50_000 + f"{number}": 1} for number in range(30)],
    ],
    ids=lambda operations: str(operations)[:40],
)
def test_the_common_budget_of_all_evidence(caller, operations):
    target = document(caller, ASTRAL * 1_000)["target_file_id"]
    change_id = {"change_id": "c" * 64}
    named = [*operations[:-1], {**operations[-1], **change_id}]
    for _ in range(2):
        answer = propose(caller, OPERATIONS, target, named, client_request_id=KEY)
        assert answer["status"] == "rejected"
        assert enrichment_bytes(answer) <= 18_432


@pytest.mark.req("EVID-077", "KEY-019")
@pytest.mark.parametrize("depth", [1, 40, 150])
def test_the_budget_holds_for_paths_of_a_conflict(caller, depth):
    def nested(number, value):
        for level in range(depth):
            value = {ASTRAL * 2_000 + f"{number}.{level}": value}
        return value

    target = document(caller, TEXT)["target_file_id"]
    first, second = ([nested(number, value) for number in range(12)] for value in (1, 2))
    submit(caller, target, *first, client_request_id=KEY)
    answer = rejected(
        caller, target, *second, reason="context_invalid", code="request_key_conflict",
        client_request_id=KEY,
    )  # fmt: skip
    assert enrichment_bytes(answer) <= 18_432
    paths = answer["diagnostic"]["differing_fields"]
    assert len(paths) <= 10
    assert answer["diagnostic"]["differing_fields_truncated"] is True
    assert all(one != other for one, other in pairwise(paths))


@pytest.mark.req("EVID-077")
@pytest.mark.parametrize("opening", ["[", '{"x":'])
def test_a_conflict_of_deeply_nested_records(client, opening):
    target = document(client, TEXT)["target_file_id"]
    for value, reason in ((1, "protocol_invalid"), (2, "context_invalid")):
        nested: object = value
        for _ in range(200):
            nested = [nested] if opening == "[" else {"x": nested}
        answer = propose(client, EDITS, target, nested, client_request_id=KEY)
        assert answer["failure_reason"] == reason
        assert enrichment_bytes(answer) <= 18_432
