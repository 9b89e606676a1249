"""The bounds of a preview's evidence, at each of them and one byte or code point past it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff.answers import over_mcp
from patchdiff.preview_bounds import bounded

ASTRAL = "\U0001f600"
TARGET = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
HASH = "0123456789abcdef" * 4
VERDICT = {
    "format": "patchdiff-tx/1",
    "code": "some_code",
    "retryable": True,
    "requires_new_submission": True,
    "validation_stage": "transaction_applicability",
}


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode())


def answer(**fields: Any) -> dict[str, Any]:
    return {
        "status": "accepted",
        "preview": True,
        "advisory": True,
        "stage": "transaction_applicability",
        "validity": {"protocol_valid": True},
        "target_file_id": TARGET,
        "current_version": 7,
        "current_hash": HASH,
        "before_version": 7,
        "before_hash": HASH,
        "after_hash": HASH[::-1],
        **fields,
    }


def omission(field: str, reason: str) -> dict[str, str]:
    return {"field": field, "reason": reason}


def fact(index: int, exactly: int = 100) -> dict[str, Any]:
    """A fact of exactly this many bytes."""
    made = {"change_index": index, "change_id": ""}
    made["change_id"] = "x" * (exactly - size(made))
    assert size(made) == exactly
    return made


def text_of(wrapper_bytes: int, name: str) -> str:
    """A text that with its wrapper has this many bytes, in as few code points as possible."""
    inside = wrapper_bytes - size({name: ""})
    text = ASTRAL * (inside // 12) + "x" * (inside % 12)
    assert size({name: text}) == wrapper_bytes
    assert len(text) < 1_024
    return text


def check_facts(result: dict[str, Any], facts: list[Any], kept: int, reason: str | None) -> None:
    assert result["change_facts"] == facts[:kept]
    assert result["total_change_count"] == len(facts)
    assert result["returned_fact_count"] == kept
    assert result["change_facts_truncated"] is (reason is not None)
    assert result["change_facts_omission_reason"] == reason
    assert result["evidence_omissions"] == ([omission("change_facts", reason)] if reason else [])


@pytest.mark.req("PREV-025", "PREV-026", "PREV-029", "PREV-030", "PREV-031")
@pytest.mark.parametrize("count", [1, 31, 32, 33, 34, 500])
def test_at_most_32_facts(count: int) -> None:
    facts = [fact(index) for index in range(1, count + 1)]
    result = bounded(answer(change_facts=facts))
    check_facts(result, facts, min(count, 32), "fact_count_limit" if count > 32 else None)


@pytest.mark.req("PREV-026", "PREV-027", "PREV-030", "PREV-031")
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_fact_of_2048_bytes_and_one_more(place: int) -> None:
    facts = [fact(index) for index in range(1, 6)]
    facts[place] = fact(place + 1, 2_048)
    check_facts(bounded(answer(change_facts=facts)), facts, 5, None)
    facts[place] = fact(place + 1, 2_049)
    check_facts(bounded(answer(change_facts=facts)), facts, place, "fact_byte_limit")


@pytest.mark.req("PREV-026", "PREV-028", "PREV-029", "PREV-030", "PREV-031")
def test_facts_of_16384_bytes_and_one_more() -> None:
    facts = [fact(index, 2_000) for index in range(1, 9)]
    last = 16_384 - size({"change_facts": facts}) - 1
    facts.append(fact(9, last))
    assert size({"change_facts": facts}) == 16_384
    check_facts(bounded(answer(change_facts=facts)), facts, 9, None)
    facts[8] = fact(9, last + 1)
    facts.append(fact(10))
    check_facts(bounded(answer(change_facts=facts)), facts, 8, "change_facts_byte_limit")


# every place of an answer in which a text stands: how it is put there, how it is left out
PLACES: dict[str, tuple[str, Any, Any]] = {
    "failure_detail": ("failure_detail", lambda text: text, None),
    "failed_change_id": ("failed_change_id", lambda text: text, None),
    "target_file_id": ("target_file_id", lambda text: text, None),
    "near_misses": ("text", lambda text: {"candidates": [{"text": text}]}, None),
    "current_context": ("text", lambda text: {"text": text}, None),
    "warnings": ("warnings", lambda text: ["a", text], []),
    "warning_details": ("detail", lambda text: [{"detail": "a"}, {"detail": text}], []),
}


@pytest.mark.req("PREV-031", "PREV-032", "PREV-033")
@pytest.mark.parametrize("field", PLACES)
def test_texts_at_their_bounds(field: str) -> None:
    name, put, left = PLACES[field]
    for text in ("", "x" * 1_024, text_of(8_192, name)):
        whole = answer(
            **{"diagnostic": dict(VERDICT), "warnings_truncated": False, field: put(text)}
        )
        assert bounded(whole) == whole | {"evidence_omissions": []}
    for text in ("x" * 1_025, text_of(8_193, name), ASTRAL * 1_024):
        whole = answer(
            **{"diagnostic": dict(VERDICT), "warnings_truncated": False, field: put(text)}
        )
        assert bounded(whole) == whole | {
            field: left,
            "warnings_truncated": field.startswith("warning"),
            "evidence_omissions": [omission(field, "text_limit")],
        }


@pytest.mark.req("PREV-031", "PREV-032")
def test_texts_of_the_diagnostic_at_their_bounds() -> None:
    for text in ("x" * 1_024, text_of(8_192, "path")):
        whole = answer(diagnostic={**VERDICT, "places": [{"path": text}], "other": 1})
        assert bounded(whole) == whole | {"evidence_omissions": []}
    for text in ("x" * 1_025, text_of(8_193, "path")):
        whole = answer(diagnostic={**VERDICT, "places": [{"path": text}], "other": 1})
        assert bounded(whole) == whole | {
            "diagnostic": {**VERDICT, "other": 1, "omission_reason": "text_limit"},
            "evidence_omissions": [omission("diagnostic.places", "text_limit")],
        }


def diagnostic(exactly: int, context: object) -> dict[str, Any]:
    """A diagnostic that with its wrapper has exactly this many bytes."""
    made: dict[str, Any] = {**VERDICT, "evidence": [], "count": 3, "failure_context": context}
    while True:
        missing = exactly - size({"diagnostic": made}) - 2
        if missing <= 1_000:
            made["evidence"].append("x" * (missing - 1))
            assert size({"diagnostic": made}) == exactly
            return made
        made["evidence"].append("x" * 900)


@pytest.mark.req("PREV-031", "PREV-034", "PREV-035")
def test_a_diagnostic_of_16384_bytes_and_one_more() -> None:
    context = {"available": True, "text": text_of(3_000, "text")}
    whole = answer(diagnostic=diagnostic(16_384, context))
    assert bounded(whole) == whole | {"evidence_omissions": []}
    whole = answer(diagnostic=diagnostic(16_385, context))
    result = bounded(whole)
    reason = "diagnostic_byte_limit"
    assert result == whole | {
        "diagnostic": {**VERDICT, "failure_context": context, "omission_reason": reason},
        "evidence_omissions": [
            omission("diagnostic.evidence", reason),
            omission("diagnostic.count", reason),
        ],
    }


@pytest.mark.req("PREV-031", "PREV-034", "PREV-035")
def test_a_failure_context_that_does_not_fit_goes_too() -> None:
    kept = {**VERDICT, "failure_context": [], "omission_reason": "diagnostic_byte_limit"}
    while size({"diagnostic": kept}) < 15_900:
        kept["failure_context"].append("x" * 400)
    kept["failure_context"].append("x" * (16_384 - size({"diagnostic": kept}) - 3))
    assert size({"diagnostic": kept}) == 16_384
    whole = {name: value for name, value in kept.items() if name != "omission_reason"}
    result = bounded(answer(diagnostic={**whole, "count": "x" * 100}))
    assert result["diagnostic"] == kept
    whole["failure_context"][-1] += "x"
    result = bounded(answer(diagnostic={**whole, "count": "x" * 100}))
    assert result["diagnostic"] == {**VERDICT, "omission_reason": "diagnostic_byte_limit"}
    assert [item["field"] for item in result["evidence_omissions"]] == [
        "diagnostic.count",
        "diagnostic.failure_context",
    ]


EVIDENCE: dict[str, Any] = {
    "near_misses": {"candidates": ["n" * 900]},
    "warning_details": [{"detail": "d" * 800}],
    "warnings": ["w" * 700],
    "warning_count": 1,
    "warnings_truncated": False,
    "diagnostic": {**VERDICT, "found": "f" * 650, "failure_context": {"text": "c" * 600}},
    "failure_detail": "s" * 500,
    "failed_change_id": "i" * 400,
    "target_file_id": "t" * 300,
    "current_context": {"available": True, "text": "u" * 200},
}
PAYLOAD = "payload_byte_limit"
# what each step of the contract's order leaves
STEPS: list[tuple[list[str], dict[str, Any]]] = [
    (["near_misses"], {"near_misses": None}),
    (["warning_details"], {"warning_details": [], "warnings_truncated": True}),
    (["warnings"], {"warnings": []}),
    (
        ["diagnostic.found", "diagnostic.failure_context"],
        {"diagnostic": {**VERDICT, "omission_reason": PAYLOAD}},
    ),
    (["failure_detail"], {"failure_detail": None}),
    (["failed_change_id"], {"failed_change_id": None}),
    (["target_file_id"], {"target_file_id": None}),
    (["current_context"], {"current_context": None}),
]


def after(steps: int, **fields: Any) -> dict[str, Any]:
    """The answer with all evidence after this many omissions."""
    result = answer(**EVIDENCE, **fields)
    omissions = []
    for names, left in STEPS[:steps]:
        result |= left
        omissions += [omission(name, PAYLOAD) for name in names]
    return result | {"evidence_omissions": omissions}


@pytest.mark.req("PREV-024", "PREV-031", "PREV-036", "PREV-038")
@pytest.mark.parametrize("steps", range(len(STEPS)))
def test_the_order_of_omissions_over_the_payload_cap(steps: int) -> None:
    filler = "p" * (32_768 - size(after(steps, runtime_version="")))
    expected = after(steps, runtime_version=filler)
    assert size(expected) == 32_768
    assert bounded(answer(**EVIDENCE, runtime_version=filler)) == expected
    filler += "p"
    assert bounded(answer(**EVIDENCE, runtime_version=filler)) == after(
        steps + 1, runtime_version=filler
    )


@pytest.mark.req("PREV-038")
def test_a_valid_target_id_and_the_verdict_survive_every_omission() -> None:
    whole = answer(**{**EVIDENCE, "target_file_id": TARGET}, runtime_version="p" * 40_000)
    result = bounded(whole | {"change_facts": [fact(1)]})
    for name in (
        "status", "preview", "advisory", "stage", "validity", "target_file_id", "current_version",
        "current_hash", "before_version", "before_hash", "after_hash",
    ):  # fmt: skip
        assert result[name] == whole[name], name
    assert [item["field"] for item in result["evidence_omissions"]] == [
        *(name for names, _ in STEPS for name in names if name != "target_file_id"),
        "change_facts",
    ]


def with_facts(kept: int, facts: list[Any], filler: str) -> dict[str, Any]:
    """An accepted answer of which the warnings went, and then all but this many facts."""
    return answer(
        change_facts=facts[:kept],
        warnings=[],
        warning_details=[],
        warning_count=1,
        warnings_truncated=True,
        runtime_version=filler,
        total_change_count=len(facts),
        returned_fact_count=kept,
        change_facts_truncated=kept < len(facts),
        change_facts_omission_reason=PAYLOAD if kept < len(facts) else None,
        evidence_omissions=[
            omission("warning_details", PAYLOAD),
            omission("warnings", PAYLOAD),
            *([omission("change_facts", PAYLOAD)] if kept < len(facts) else []),
        ],
    )


@pytest.mark.req("PREV-024", "PREV-026", "PREV-029", "PREV-030", "PREV-031", "PREV-037")
@pytest.mark.parametrize("kept", [32, 31, 20, 10, 9, 1])
def test_trailing_facts_go_last(kept: int) -> None:
    facts = [fact(index, 300) for index in range(1, 33)]
    filler = "p" * (32_768 - size(with_facts(kept, facts, "")))
    for more, left in (("", kept), ("p", kept - 1)):
        whole = answer(
            change_facts=facts,
            warnings=["w" * 1_000],
            warning_details=[{"detail": "d" * 1_000}],
            warning_count=1,
            warnings_truncated=False,
            runtime_version=filler + more,
        )
        expected = with_facts(left, facts, filler + more)
        assert size(expected) <= 32_768
        assert bounded(whole) == expected
    assert size(with_facts(kept, facts, filler)) == 32_768


@pytest.mark.req("PREV-037")
def test_facts_dropped_for_two_reasons_name_both() -> None:
    facts = [fact(index, 400) for index in range(1, 41)]
    result = bounded(answer(change_facts=facts, runtime_version="p" * 25_000))
    assert 0 < result["returned_fact_count"] < 32
    assert result["total_change_count"] == 40
    assert result["change_facts"] == facts[: result["returned_fact_count"]]
    assert result["change_facts_omission_reason"] == PAYLOAD
    assert result["evidence_omissions"] == [
        omission("change_facts", "fact_count_limit"),
        omission("change_facts", PAYLOAD),
    ]


@pytest.mark.req("PREV-024")
def test_the_cap_holds_for_the_answer_over_mcp_too() -> None:
    # a context so short that naming it takes more bytes than sending it
    context = {"available": True}
    fields = {"diagnostic": {**VERDICT, "failure_context": context}, "current_context": context}
    filler = "p" * (32_768 - size(answer(**fields, runtime_version="", evidence_omissions=[])))
    result = bounded(answer(**fields, runtime_version=filler[:-100]))
    assert size(result) <= 32_768
    assert size(over_mcp(result)) <= 32_768
    assert result["evidence_omissions"]


def test_nothing_is_changed_in_place() -> None:
    whole = answer(**EVIDENCE, change_facts=[fact(1, 3_000)], runtime_version="p" * 40_000)
    before = json.dumps(whole)
    bounded(whole)
    assert json.dumps(whole) == before


LENGTHS = st.sampled_from([0, 1, 200, 1_000, 1_024, 1_025])
TEXTS = st.tuples(st.sampled_from(["x", "\\", "\u4e2d", ASTRAL]), LENGTHS).map(
    lambda pair: pair[0] * pair[1]
)
OBJECTS = st.dictionaries(st.sampled_from("abcdefgh"), TEXTS, max_size=8)


@given(
    st.fixed_dictionaries(
        {
            "near_misses": OBJECTS,
            "warning_details": st.lists(OBJECTS, max_size=4),
            "warnings": st.lists(TEXTS, max_size=16),
            "diagnostic": OBJECTS,
            "failure_detail": TEXTS,
            "failed_change_id": TEXTS,
            "target_file_id": st.one_of(TEXTS, st.just(TARGET)),
            "current_context": OBJECTS,
            "change_facts": st.lists(
                st.integers(60, 2_100).map(lambda exactly: fact(1, exactly)), max_size=40
            ),
        }
    )
)
@pytest.mark.req("PREV-024", "PREV-025", "PREV-027", "PREV-028", "PREV-032", "PREV-034")
def test_every_bound_holds_for_any_answer(fields: dict[str, Any]) -> None:
    whole = answer(**fields)
    result = bounded(whole)
    assert size(result) <= 32_768
    assert size({"change_facts": result["change_facts"]}) <= 16_384
    assert size({"diagnostic": result["diagnostic"]}) <= 16_384
    assert len(result["change_facts"]) <= 32
    assert all(size(item) <= 2_048 for item in result["change_facts"])
    named = {item["field"] for item in result["evidence_omissions"]}
    for name, value in fields.items():
        if name == "diagnostic":
            for inner, text in value.items():
                assert (inner in result[name]) is (f"diagnostic.{inner}" not in named)
                assert result[name].get(inner, text) == text
        else:
            assert (result[name] == value) is (name not in named), name
        if isinstance(result[name], str):
            assert len(result[name]) <= 1_024
            assert size({name: result[name]}) <= 8_192
