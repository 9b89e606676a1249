"""Evaluation of typed edits against a plain model that knows only lists of code points."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchdiff.decoding import MalformedProposalError, decode_edits
from patchdiff.evaluation import NotApplicableError, evaluate
from patchdiff.origins import consumed_occurrences

# few letters, so that overlaps and ambiguities happen; astral, combining and line ends among them
LETTERS = st.text(alphabet="ab\U0001f600\u0301\n", max_size=14)
PAYLOADS = st.text(alphabet="ab\U0001f600\u0301\n\r", max_size=4)
EDITS = st.lists(
    st.fixed_dictionaries(
        {"match": PAYLOADS.filter(bool), "replace": PAYLOADS},
        optional={
            "occurrence_index": st.integers(1, 4),
            "anchor_before": PAYLOADS,
            "anchor_after": PAYLOADS,
        },
    ),
    min_size=1,
    max_size=4,
)


def lf(text: str) -> list[str]:
    """A text as code points, CRLF pairs and lone CRs as LF."""
    points: list[str] = []
    previous = ""
    for point in text:
        if not (point == "\n" and previous == "\r"):
            points.append("\n" if point == "\r" else point)
        previous = point
    return points


def places(buffer: list[str], needle: list[str]) -> list[int]:
    return [i for i in range(len(buffer)) if buffer[i : i + len(needle)] == needle]


def contains(buffer: list[str], needle: list[str]) -> bool:
    return not needle or bool(places(buffer, needle))


def model(text: str, edits: list[dict]) -> tuple[str, object]:
    """The outcome by the contract's words: a reason with where, or accepted with the text."""
    buffer = list(text)
    spans = []
    # the place of each code point in the original text, or None where an edit made it
    origin: list[int | None] = list(range(len(buffer)))
    touched: dict[int, int] = {}
    for number, edit in enumerate(edits):
        match, replace = lf(edit["match"]), lf(edit["replace"])
        found = places(buffer, match)
        fitting = [
            start
            for index, start in enumerate(found, 1)
            if edit.get("occurrence_index") in (None, index)
            and contains(buffer[:start], lf(edit.get("anchor_before") or ""))
            and contains(buffer[start + len(match) :], lf(edit.get("anchor_after") or ""))
        ]
        if not found:
            consumers = []
            for start in places(list(text), match)[:5]:
                hits = [touched[i] for i in range(start, start + len(match)) if i in touched]
                consumers.append((start, min(hits, default=None)))
            reason = "sequential_match_invalid" if consumers else "match_absent"
            return reason, (number, None, consumers)
        if len(fitting) != 1:
            return "match_ambiguous" if fitting else "disambiguation_invalid", (number, found, None)
        start = fitting[0]
        end = start + len(match)
        for place in range(start, end):
            if origin[place] is not None:
                touched.setdefault(origin[place], number)
        buffer[start:end] = replace
        origin[start:end] = [None] * len(replace)
        spans.append((start, end))
    return "accepted", ("".join(buffer), spans)


def outcome(text: str, edits: list[dict]) -> tuple[str, object]:
    try:
        result = evaluate(text, decode_edits("i", edits))
    except NotApplicableError as failure:
        consumers = [
            (item["start"], item["consumed_by_change_index"] - 1)
            for item in failure.details.get("original_occurrences", [])
        ]
        number = failure.change.index - 1
        if failure.reason in ("match_absent", "sequential_match_invalid"):
            return failure.reason, (number, None, consumers)
        return failure.reason, (number, failure.candidates, None)
    return "accepted", (result.text, [(item.start, item.end) for item in result.applied])


@pytest.mark.req("TX1-016", "TX1-017", "TX1-018", "TX1-019", "TX1-020", "TX1-021", "TX1-024")
@pytest.mark.req("TX1-025", "TX1-027", "TX1-028", "TX1-029", "TX1-030", "TX1-032", "TX1-033")
@given(LETTERS, EDITS)
@example("foo bar", [{"match": "foo bar", "replace": "baz"}, {"match": "bar", "replace": "q"}])
@example("aaa", [{"match": "aa", "replace": "b", "occurrence_index": 2}])
@example("ab", [{"match": "a", "replace": ""}, {"match": "ab", "replace": ""}])
def test_evaluation_agrees_with_the_plain_model(text: str, edits: list[dict]) -> None:
    text = "".join(lf(text))
    assert outcome(text, edits) == model(text, edits)


@given(LETTERS, EDITS)
def test_byte_places_are_those_of_the_code_points(text: str, edits: list[dict]) -> None:
    text = "".join(lf(text))
    try:
        result = evaluate(text, decode_edits("i", edits))
    except NotApplicableError:
        return
    buffer = text
    for item in result.applied:
        assert item.byte_start == len(buffer[: item.start].encode())
        assert buffer[item.start : item.end] == item.matched
        buffer = buffer[: item.start] + item.change.replace + buffer[item.end :]
    assert buffer == result.text


@pytest.mark.req("EVID-072")
def test_an_insertion_inside_an_occurrence_consumes_it() -> None:
    # a match always removes what it matched, so only the mapping itself sees pure insertions
    assert consumed_occurrences([(1, 1, 1)], 2, [0], 2) == [0]
    assert consumed_occurrences([(0, 0, 3), (4, 4, 1)], 2, [0], 2) == [1]


@pytest.mark.req("EVID-073")
def test_the_first_of_several_consumers_is_named() -> None:
    edits = [
        {"match": "b", "replace": "", "change_id": "first"},
        {"match": "c", "replace": "", "change_id": "second"},
        {"match": "abcd", "replace": "x"},
    ]
    with pytest.raises(NotApplicableError) as caught:
        evaluate("abcd", decode_edits("i", edits))
    named = caught.value.details["original_occurrences"]
    assert [item["consumed_by_change_id"] for item in named] == ["first"]


@pytest.mark.req("EVID-066", "EVID-067", "EVID-069")
def test_at_most_five_consumed_occurrences_are_listed_and_all_are_counted() -> None:
    edits = [{"match": "ababababababab", "replace": "x"}, {"match": "ab", "replace": "y"}]
    with pytest.raises(NotApplicableError) as caught:
        evaluate("_ababababababab", decode_edits("i", edits))
    assert caught.value.detail == "MATCH text was consumed by earlier change in this transaction."
    assert caught.value.details["original_occurrence_count"] == 7
    assert [item["start"] for item in caught.value.details["original_occurrences"]] == [
        1,
        3,
        5,
        7,
        9,
    ]


@pytest.mark.req("EVID-064")
@pytest.mark.parametrize(
    ("earlier", "sentence"),
    [
        (0, ""),
        (1, " Selectors count the sequential buffer after 1 simulated change of this transaction."),
        (
            2,
            " Selectors count the sequential buffer after 2 simulated changes of this transaction.",
        ),
    ],
)
def test_a_later_ambiguity_says_which_buffer_selectors_count(earlier: int, sentence: str) -> None:
    edits = [{"match": f"<{i}>", "replace": ""} for i in range(earlier)]
    with pytest.raises(NotApplicableError) as caught:
        evaluate("<0><1>xx", decode_edits("i", [*edits, {"match": "x", "replace": "y"}]))
    assert caught.value.detail == (
        "MATCH text appears multiple times without disambiguation." + sentence
    )


@pytest.mark.req("TX1-005", "TX1-009", "TX1-010", "TX1-011", "TX1-012")
@pytest.mark.parametrize(
    ("edits", "named"),
    [
        ([{"match": "a", "replace": "b", "colour": 1}], "chg_001"),
        ([{"match": "a", "replace": "b", "change_id": "x" * 65}], "chg_001"),
        (
            [{"match": "a", "replace": "b"}, {"match": "a", "replace": "b", "change_id": "a b"}],
            "chg_002",
        ),
        ([{"match": "a", "replace": "b", "change_id": "same"}] * 2, "same"),
        (
            [
                {"match": "a", "replace": "b", "change_id": "chg_002"},
                {"match": "a", "replace": "b"},
            ],
            "chg_002",
        ),
    ],
)
def test_a_malformed_edit_is_named(edits: list[dict], named: str) -> None:
    with pytest.raises(MalformedProposalError) as caught:
        decode_edits("i", edits)
    assert caught.value.change_id == named
