"""Contexts and exact candidates: their budgets and windows, each at the bound and past it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff.answers import over_mcp
from patchdiff.evidence import (
    Observed,
    current_context,
    exact_candidates,
    failure_context,
    prefix_context,
    unavailable_context,
)

HASH = "0a" * 32
OBSERVED = Observed(7, HASH)
ASTRAL = "\U0001f600"
TEXTS = st.text(alphabet=f'a{ASTRAL}\n\u4e2d"', max_size=600)


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode())


@pytest.mark.req("EVID-014", "EVID-015", "EVID-026", "EVID-036")
@pytest.mark.parametrize(("length", "shown"), [(0, 0), (1, 1), (256, 256), (257, 256)])
def test_a_prefix_shows_at_most_256_code_points(length: int, shown: int) -> None:
    text = (ASTRAL + "b") * 200
    context = prefix_context(text[:length], length, OBSERVED)
    assert context == {
        "available": True,
        "unavailable_reason": None,
        "selection": "prefix",
        "buffer_stage": "canonical_target",
        "prior_changes": 0,
        "start": 0,
        "end": shown,
        "total_chars": length,
        "text": text[:shown],
        "truncated": length > 256,
        "observed_target_version": 7,
        "observed_target_hash": HASH,
    }


@pytest.mark.req("EVID-028", "EVID-029", "EVID-030")
@pytest.mark.parametrize(
    ("total", "location", "selection", "start", "end"),
    [
        (256, 255, "prefix", 0, 256),
        (1000, 192, "prefix", 0, 256),
        (1000, 193, "failure_window", 65, 321),
        (1000, 500, "failure_window", 372, 628),
        (1000, 1000, "failure_window", 744, 1000),
        (257, 257, "failure_window", 1, 257),
    ],
)
def test_a_window_is_taken_when_fewer_than_64_code_points_of_the_failure_show(
    total: int, location: int, selection: str, start: int, end: int
) -> None:
    buffer = "".join(chr(0x4E00 + i) for i in range(total))
    context = failure_context(buffer, 0, location, OBSERVED)
    assert (context["selection"], context["start"], context["end"]) == (selection, start, end)
    assert context["text"] == buffer[start:end]


@pytest.mark.req("EVID-016", "EVID-017", "EVID-035")
def test_without_a_known_location_the_prefix_stays() -> None:
    assert failure_context("x" * 1000, 0, None, OBSERVED)["selection"] == "prefix"
    assert failure_context("x" * 1000, 0, None, OBSERVED)["buffer_stage"] == "canonical_target"
    assert failure_context("x" * 1000, 2, None, OBSERVED)["buffer_stage"] == "intermediate_buffer"


@pytest.mark.req("EVID-037", "EVID-038", "EVID-039")
def test_an_ordinary_identity_leaves_room_for_256_astral_code_points() -> None:
    text = ASTRAL * 1000
    failure = failure_context(text, 3, 900, Observed(2**63 - 1, HASH))
    current = current_context(text, len(text), Observed(2**63 - 1, HASH), failure)
    assert failure["text"] == current["text"] == ASTRAL * 256
    assert size(failure) <= 4096
    assert size({"failure_context": failure, "current_context": current}) <= 8192


@pytest.mark.req("EVID-037", "EVID-038", "EVID-040")
@given(TEXTS, st.integers(0, 600), st.integers(0, 250))
def test_a_corrupted_hash_shortens_the_text_and_never_the_identity(
    text: str, location: int, hash_length: int
) -> None:
    observed = Observed(7, ASTRAL * hash_length)
    location = min(location, len(text))
    failure = failure_context(text, 1, location, observed)
    current = current_context(text, len(text), observed, failure)
    assert (
        failure["observed_target_hash"] == current["observed_target_hash"] == ASTRAL * hash_length
    )
    assert size(failure) <= 4096
    assert size(current) <= 4096
    assert size({"failure_context": failure, "current_context": current}) <= 8192
    for context in (failure, current):
        assert context["text"] == text[context["start"] : context["end"]]
        assert context["truncated"] == (len(context["text"]) < len(text))
        longer = min(256, len(text))
        if len(context["text"]) < longer:  # one code point more would not have fitted
            grown = {**context, "text": context["text"] + ASTRAL, "end": context["end"] + 1}
            budget = 4096
            if context is current:
                wrapper = size({"failure_context": failure, "current_context": 0}) - 1
                budget = min(budget, 8192 - wrapper)
            assert size(grown) > budget


@pytest.mark.req("EVID-030")
@given(st.integers(257, 2000), st.data())
def test_a_window_holds_its_location_and_stays_inside_the_buffer(
    total: int, data: st.DataObject
) -> None:
    location = data.draw(st.integers(0, total))
    context = failure_context("x" * total, 0, location, OBSERVED)
    assert 0 <= context["start"] <= location <= context["end"] <= total
    assert context["end"] - context["start"] == 256
    if context["selection"] == "failure_window":
        assert location - context["start"] == 128 or context["end"] == total
    else:
        assert 256 - location >= 64


@pytest.mark.req("EVID-042")
def test_an_unavailable_context_has_nothing_but_its_reason() -> None:
    context = unavailable_context("target_not_found")
    known = prefix_context("", 0, OBSERVED)
    assert list(context) == list(known)
    assert context.pop("available") is False
    assert context.pop("unavailable_reason") == "target_not_found"
    assert set(context.values()) == {None}


@pytest.mark.req("EVID-047")
def test_an_empty_target_is_available() -> None:
    context = prefix_context("", 0, OBSERVED)
    assert context["available"] is True
    assert (context["text"], context["start"], context["end"], context["total_chars"]) == (
        "",
        0,
        0,
        0,
    )
    assert context["truncated"] is False


@pytest.mark.req("EVID-053", "EVID-054", "EVID-055", "EVID-056", "EVID-057", "EVID-060", "EVID-062")
@pytest.mark.parametrize(("count", "listed", "following"), [(2, 2, None), (5, 5, None), (6, 5, 6)])
def test_five_candidates_are_whole_and_six_are_cut(
    count: int, listed: int, following: int | None
) -> None:
    unit = "-" * 30 + "x"
    buffer = unit * count
    starts = [30 + 31 * i for i in range(count)]
    answer = exact_candidates(buffer, starts, "x", 0, OBSERVED)
    assert answer == {
        "kind": "exact_occurrences",
        "occurrence_count": count,
        "returned_count": listed,
        "candidates": [
            {
                "occurrence_index": i + 1,
                "start": starts[i],
                "end": starts[i] + 1,
                "before": "-" * 20,
                "match_preview": "x",
                "match_truncated": False,
                "after": "-" * 20 if i < count - 1 else "",
            }
            for i in range(listed)
        ],
        "truncated": listed < count,
        "next_occurrence_index": following,
        "buffer_stage": "canonical_target",
        "prior_changes": 0,
        "observed_target_version": 7,
        "observed_target_hash": HASH,
    }


@pytest.mark.req("EVID-058")
@pytest.mark.parametrize(("length", "truncated"), [(64, False), (65, True)])
def test_a_match_preview_holds_64_code_points(length: int, truncated: bool) -> None:
    match = ASTRAL * length
    candidate = exact_candidates(match, [0], match, 0, OBSERVED)["candidates"][0]
    assert candidate["match_preview"] == ASTRAL * 64
    assert candidate["match_truncated"] is truncated


@pytest.mark.req("EVID-059")
@given(st.integers(0, 600))
def test_candidates_that_do_not_fit_are_dropped_whole(hash_length: int) -> None:
    match = ASTRAL * 64
    buffer = (match + ASTRAL) * 5
    starts = [65 * i for i in range(5)]
    answer = exact_candidates(buffer, starts, match, 1, Observed(1, ASTRAL * hash_length))
    assert size({"exact_candidates": answer}) <= 8192
    listed = answer["returned_count"]
    assert listed == len(answer["candidates"])
    assert answer["truncated"] is (listed < 5)
    assert answer["next_occurrence_index"] == (listed + 1 if listed < 5 else None)


@pytest.mark.req("EVID-045")
def test_over_mcp_a_repeated_context_is_named_instead() -> None:
    context = prefix_context("text", 4, OBSERVED)
    answer = {"current_context": dict(context), "diagnostic": {"failure_context": context}}
    assert over_mcp(answer)["current_context"] == unavailable_context("same_as_failure_context")
    other = {**answer, "current_context": {**context, "observed_target_version": 8}}
    assert over_mcp(other) == other
    missing = unavailable_context("target_not_found")
    unknown = {"current_context": missing, "diagnostic": {"failure_context": missing}}
    assert over_mcp(unknown) == unknown
