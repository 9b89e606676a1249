"""The evidence of previews end to end: budgets with real proposals, and what is never shown."""

from __future__ import annotations

import json

import pytest

from tests.support.documents import ServiceCaller, change, document, sha256
from tests.support.previews import preview
from tests.support.proposals import EDITS, OPERATIONS, REPLACEMENT, json_bytes, propose, span

ASTRAL = "\U0001f600"
TEXT = "alpha beta alpha\n"


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


def omission(field, reason):
    return {"field": field, "reason": reason}


@pytest.mark.req("PREV-025", "PREV-026", "PREV-029", "PREV-030", "PREV-031", "PREV-040")
@pytest.mark.parametrize("count", [32, 33, 300])
def test_facts_of_a_long_transaction(caller, count):
    target = document(caller, "".join(f"<{number}>" for number in range(count)))["target_file_id"]
    # names and texts as long as they can be make the largest facts there are
    edits = [
        change(f"<{number}>", "x" * 10_000, change_id=f"{number:-<64}") for number in range(count)
    ]
    previewed = preview(caller, EDITS, target, edits)
    submitted = propose(caller, EDITS, target, edits)
    facts = submitted["evidence"]["changes"]
    assert len(facts) == count
    assert previewed["change_facts"] == facts[:32]
    assert previewed["total_change_count"] == count
    assert previewed["returned_fact_count"] == 32
    assert previewed["change_facts_truncated"] is (count > 32)
    reason = "fact_count_limit" if count > 32 else None
    assert previewed["change_facts_omission_reason"] == reason
    assert previewed["evidence_omissions"] == ([omission("change_facts", reason)] if reason else [])
    assert previewed["after_hash"] == submitted["after_hash"]


@pytest.mark.req("PREV-017", "PREV-024")
def test_as_many_warnings_and_facts_as_there_can_be(caller):
    cluster = "e\u0301" + ASTRAL + "\u200d" + ASTRAL
    target = document(caller, cluster * 40)["target_file_id"]
    operations = [
        span(start, start + 1, "\u0301", "\u0301", change_id=f"{start:-<64}")
        for start in range(1, 5 * 40, 5)
    ]
    previewed = preview(caller, OPERATIONS, target, operations)
    submitted = propose(caller, OPERATIONS, target, operations)
    assert previewed["warning_count"] > 40
    assert len(previewed["warnings"]) == len(previewed["warning_details"]) == 16
    assert previewed["warnings_truncated"] is True
    for name in ("warnings", "warning_details", "warning_count"):
        assert previewed[name] == submitted[name]
    assert previewed["change_facts"] == submitted["evidence"]["changes"][:32]


@pytest.mark.req("PREV-019", "PREV-024")
def test_a_rejection_with_as_much_evidence_as_there_can_be(caller, client):
    filler = ASTRAL * 300
    near = [ASTRAL * 59 + letter * 5 for letter in "abc"]
    target = document(caller, filler + "".join(f"{one}\n{filler}" for one in near))[
        "target_file_id"
    ]
    for chosen in (caller, client):
        answer = preview(chosen, EDITS, target, [change(ASTRAL * 60 + "abcd", "x")])
        assert answer["failure_reason"] == "match_absent"
        assert answer["near_misses"]["comparison_cells"] > 0
        assert answer["evidence_omissions"] == []
    answer = preview(caller, EDITS, target, [change(ASTRAL * 40, "x")])
    assert len(answer["diagnostic"]["exact_candidates"]["candidates"]) == 5
    assert json_bytes({"diagnostic": answer["diagnostic"]}) <= 16_384


@pytest.mark.req("PREV-008", "PREV-031", "PREV-032", "PREV-033")
@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("x" * 1_024, True),
        ("x" * 1_025, False),
        # with its wrapper of 21 bytes and an astral character's 12 the 8,192nd byte
        (ASTRAL * 680 + "x" * 10, True),
        (ASTRAL * 680 + "x" * 11, True),
        (ASTRAL * 680 + "x" * 12, False),
        ("x" * 5_000_000, False),
    ],
)
def test_the_echo_of_an_invalid_target(caller, given, whole):
    assert (json_bytes({"target_file_id": given}) <= 8_192 and len(given) <= 1_024) is whole
    answer = preview(caller, EDITS, given, [change("a", "b")])
    assert answer["failure_reason"] == "invalid_target_id"
    assert answer["target_file_id"] == (given if whole else None)
    omissions = [] if whole else [omission("target_file_id", "text_limit")]
    assert answer["evidence_omissions"] == omissions


def nested(depth, name, value):
    """An edit in which a value lies below this many objects of the same name."""
    for _ in range(depth):
        value = {name: value}
    return value


@pytest.mark.req("PREV-031", "PREV-032")
@pytest.mark.parametrize(("depth", "whole"), [(10, True), (14, False)])
def test_a_detail_and_a_place_that_are_too_long(caller, depth, whole):
    target = document(caller, TEXT)["target_file_id"]
    edits = [nested(depth, "n" * 80, "\ud800")]
    submitted = propose(caller, EDITS, target, edits)
    assert (len(submitted["failure_detail"]) <= 1_024) is whole
    answer = preview(caller, EDITS, target, edits)
    assert answer["failure_reason"] == "target_encoding_invalid"
    assert answer["failure_detail"] == (submitted["failure_detail"] if whole else None)
    diagnostic = dict(submitted["diagnostic"])
    if not whole:
        del diagnostic["invalid_text"]
        diagnostic["omission_reason"] = "text_limit"
    assert answer["diagnostic"] == diagnostic
    assert sorted(item["field"] for item in answer["evidence_omissions"]) == (
        [] if whole else ["diagnostic.invalid_text", "failure_detail"]
    )


@pytest.mark.req("PREV-024", "PREV-031", "PREV-034", "PREV-035")
def test_a_diagnostic_that_is_too_large(caller):
    target = document(caller, ASTRAL * 300)["target_file_id"]
    # ten places, each below the limits of a text: backslashes double in a path and again in JSON
    edits = [nested(11, "\\" * 40, "\ud800") for _ in range(12)]
    submitted = propose(caller, EDITS, target, edits)
    assert json_bytes({"diagnostic": submitted["diagnostic"]}) > 16_384
    assert max(len(place["path"]) for place in submitted["diagnostic"]["invalid_text"]) <= 1_024
    answer = preview(caller, EDITS, target, edits)
    reason = "diagnostic_byte_limit"
    assert answer["diagnostic"] == {
        "format": "patchdiff-tx/1",
        "retryable": False,
        "requires_new_submission": True,
        "validation_stage": "protocol_validation",
        "failure_context": submitted["diagnostic"]["failure_context"],
        "omission_reason": reason,
    }
    assert answer["diagnostic"]["failure_context"]["text"] == ASTRAL * 256
    assert answer["evidence_omissions"] == [
        omission("diagnostic.invalid_text", reason),
        omission("diagnostic.invalid_text_count", reason),
        omission("diagnostic.invalid_text_truncated", reason),
    ]
    assert answer["current_context"] == submitted["current_context"]


@pytest.mark.req("PREV-018", "PREV-024")
@pytest.mark.parametrize("prior", [[], [change("beta", "b")]])
def test_equal_contexts_are_named_over_mcp_only(client, caller, prior):
    target = document(caller, TEXT)["target_file_id"]
    edits = [*prior, change("gamma", "g")]
    whole = preview(caller, EDITS, target, edits)
    answer = preview(client, EDITS, target, edits)
    assert whole["current_context"]["text"] == TEXT
    if prior:
        assert answer == whole
        return
    assert whole["current_context"] == whole["diagnostic"]["failure_context"]
    context = answer["current_context"]
    assert (context["available"], context["unavailable_reason"]) == (
        False,
        "same_as_failure_context",
    )
    assert answer | {"current_context": None} == whole | {"current_context": None}


@pytest.mark.req("PREV-039")
def test_the_proposed_text_is_never_shown(caller):
    old, new = "old line\n" * 100, "a new line of the proposal\n" * 100
    target = document(caller, old)["target_file_id"]
    proposals = [
        (REPLACEMENT, new, "accepted"),
        (EDITS, [change(old, new)], "accepted"),
        (OPERATIONS, [span(0, 900, old, new)], "accepted"),
        (EDITS, [change(old, new), change("absent", "x")], "rejected"),
        (EDITS, [change("x" + old, new)], "rejected"),
        (OPERATIONS, [span(0, 901, old, new)], "rejected"),
        (OPERATIONS, [span(0, 900, new, new)], "rejected"),
        (EDITS, [{"match": old, "replace": new, "unknown": new}], "rejected"),
        (EDITS, [{new: new}], "rejected"),
        (REPLACEMENT, new * 1_000, "invalid_argument"),
    ]
    for tool, proposal, status in proposals:
        answer = preview(caller, tool, target, proposal)
        assert answer["status"] == status, answer
        shown = json.dumps(answer)
        assert json.dumps(new)[1:-1] not in shown
        assert json.dumps(old)[1:-1] not in shown
    answer = preview(caller, REPLACEMENT, target, new)
    assert answer["after_hash"] == sha256(new)
    assert "a new line" not in json.dumps(answer)
