"""Warnings of accepted transactions against a model that knows lists of code points alone."""

import time
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchdiff.answers import accepted
from patchdiff.decoding import decode_edits
from patchdiff.evaluation import AppliedChange, NotApplicableError, evaluate
from patchdiff.evidence import Observed
from patchdiff.transaction_warnings import TransactionWarnings

# few letters, so that matches repeat, overlap, vanish and come about; marks, a joiner, halves of
# flags and jamo, so that boundaries split
ALPHABET = "ab\n\u0301\u200d\U0001f1e9\u1100\u1161"
TEXTS = st.text(alphabet="ab", max_size=16) | st.text(alphabet=ALPHABET, max_size=16)
PAYLOADS = st.text(alphabet="ab", max_size=3) | st.text(alphabet=ALPHABET, max_size=3)
MATCHES = st.fixed_dictionaries(
    {
        "match": PAYLOADS.filter(bool),
        "replace": PAYLOADS,
        "occurrence_index": st.none() | st.integers(1, 5),
    }
)


@dataclass(frozen=True)
class Placed:
    """A span or a whole replacement: a change that has a place from the start, and no selector."""

    index: int
    change_id: str
    replace: str


@dataclass(frozen=True)
class AppliedSpan:
    change: Placed
    start: int
    matched: str


def warned(text: str, edits: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The diagnostic for edits that the evaluator applies."""
    result = evaluate(text, decode_edits("i", edits))
    warnings = TransactionWarnings(text)
    buffer = text
    for item in result.applied:
        warnings.note(buffer, item)
        buffer = buffer[: item.start] + item.change.replace + buffer[item.end :]
    return warnings.finish(buffer)


def warned_spans(text: str, spans: list[tuple[int, int, str]]) -> dict[str, Any] | None:
    """The diagnostic for spans of the sequential buffer."""
    warnings = TransactionWarnings(text)
    buffer = text
    for index, (start, end, replace) in enumerate(spans, start=1):
        applied = AppliedSpan(Placed(index, f"s{index}", replace), start, buffer[start:end])
        warnings.note(buffer, applied)
        buffer = buffer[:start] + replace + buffer[end:]
    return warnings.finish(buffer)


def listed(diagnostic: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if diagnostic is None else diagnostic["warnings"]


def codes(diagnostic: dict[str, Any] | None) -> list[str]:
    return [item["code"] for item in listed(diagnostic)]


def fields(diagnostic: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The listed warnings without their sentences."""
    return [{k: v for k, v in item.items() if k != "detail"} for item in listed(diagnostic)]


def places(buffer: list[str], needle: list[str]) -> list[int]:
    return [i for i in range(len(buffer)) if buffer[i : i + len(needle)] == needle]


def splits(buffer: list[str], offset: int) -> bool:
    """The boundaries of the alphabet above that split."""
    if offset in (0, len(buffer)) or buffer[offset - 1] == "\n":
        return False
    before, after = buffer[offset - 1], buffer[offset]
    run = 0
    while run < offset and buffer[offset - run - 1] == "\U0001f1e9":
        run += 1
    return (
        after in "\u0301\u200d"
        or before == "\u200d"
        or (after == "\U0001f1e9" and run % 2 == 1)
        or before + after in ("\u1100\u1100", "\u1100\u1161", "\u1161\u1161")
    )


def model(text: str, edits: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Every warning by the contract's words, without sentences; None when an edit cannot apply."""
    buffer = list(text)
    # for each code point of the buffer its place in the original text, None where an edit made it
    origin: list[int | None] = list(range(len(buffer)))
    warnings: list[dict[str, Any]] = []
    for number, proposed in enumerate(edits, start=1):
        match, replace = list(proposed["match"]), list(proposed["replace"])
        given_index = proposed["occurrence_index"]
        found = places(buffer, match)
        if given_index is None and len(found) != 1:
            return None
        if given_index is not None and given_index > len(found):
            return None
        start = found[0 if given_index is None else given_index - 1]
        end = start + len(match)
        of_change = {"change_id": f"chg_{number:03d}", "change_index": number}
        if match == replace:
            warnings.append({"code": "no_op_change", **of_change})
        if given_index is not None and number > 1:
            first = origin[start]
            then = None
            if first is not None and origin[start:end] == list(range(first, first + len(match))):
                then = places(list(text), match).index(first) + 1
            if then != given_index:
                warnings.append(
                    {
                        "code": "occurrence_index_basis_shift",
                        **of_change,
                        "occurrence_index": given_index,
                        "transaction_start_occurrence_index": then,
                    }
                )
        warnings += [
            {"code": "grapheme_boundary_split", **of_change, "boundary": boundary, "offset": offset}
            for boundary, offset in (("start", start), ("end", end))
            if splits(buffer, offset)
        ]
        buffer[start:end] = replace
        origin[start:end] = [None] * len(replace)
    if "".join(buffer) == text:
        warnings.append({"code": "no_op_transaction"})
    return warnings


@pytest.mark.req("WARN-003", "WARN-005", "WARN-006", "WARN-007", "WARN-008", "WARN-009")
@pytest.mark.req("WARN-010", "WARN-011", "WARN-021", "WARN-025")
@given(TEXTS, st.lists(MATCHES, min_size=1, max_size=5))
@example("ab", [{"match": "a", "replace": "a", "occurrence_index": 1}])
def test_the_warnings_of_edits_agree_with_the_plain_model(
    text: str, edits: list[dict[str, Any]]
) -> None:
    expected = model(text, edits)
    try:
        diagnostic = warned(text, edits)
    except NotApplicableError:
        assert expected is None
        return
    assert expected is not None
    assert fields(diagnostic) == expected[:16]
    assert (diagnostic is None) == (expected == [])
    if diagnostic is not None:
        assert diagnostic["warning_count"] == len(expected)


@st.composite
def spans_then_a_match(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]], int, str]:
    """Spans that apply to a text, and an occurrence of the buffer that they leave."""
    text = draw(st.text(alphabet="ab", max_size=24))
    buffer = text
    spans = []
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(buffer)))
        end = draw(st.integers(start, min(len(buffer), start + 3)))
        replace = draw(st.text(alphabet="ab", max_size=3))
        spans.append((start, end, replace))
        buffer = buffer[:start] + replace + buffer[end:]
    buffer = buffer or "a"
    start = draw(st.integers(0, len(buffer) - 1))
    end = draw(st.integers(start + 1, min(len(buffer), start + 4)))
    return text, spans, start, buffer[start:end]


@pytest.mark.req("WARN-006", "WARN-007", "WARN-008", "WARN-010", "WARN-011")
@given(spans_then_a_match())
@example(("abab", [(2, 2, "xx"), (2, 4, "")], 1, "ba"))
@example(("aab", [(1, 2, "")], 0, "ab"))
def test_the_basis_after_spans_agrees_with_the_plain_model(
    case: tuple[str, list[tuple[int, int, str]], int, str],
) -> None:
    text, spans, start, match = case
    buffer = list(text)
    origin: list[int | None] = list(range(len(text)))
    for span_start, span_end, replace in spans:
        buffer[span_start:span_end] = replace
        origin[span_start:span_end] = [None] * len(replace)
    if not buffer:
        return
    index = places(buffer, list(match)).index(start) + 1
    then = None
    first = origin[start]
    if first is not None and origin[start : start + len(match)] == list(
        range(first, first + len(match))
    ):
        then = places(list(text), list(match)).index(first) + 1
    warnings = TransactionWarnings(text)
    current = text
    for number, (span_start, span_end, replace) in enumerate(spans, start=1):
        placed = Placed(number, f"s{number}", replace)
        warnings.note(current, AppliedSpan(placed, span_start, current[span_start:span_end]))
        current = current[:span_start] + replace + current[span_end:]
    selecting = decode_edits("i", [edit(match, "Z", index)])
    warnings.note(current, evaluate(current, selecting).applied[0])
    shifts = [
        item["transaction_start_occurrence_index"]
        for item in listed(warnings.finish("Z"))
        if item["code"] == "occurrence_index_basis_shift"
    ]
    assert shifts == ([then] if then != index else [])


def edit(match: str, replace: str, index: int | None = None) -> dict[str, Any]:
    return {"match": match, "replace": replace, "occurrence_index": index}


@pytest.mark.req("WARN-003", "WARN-024")
def test_a_change_whose_match_equals_its_replacement_is_named() -> None:
    edits = [{"match": "b", "replace": "c"}, {"match": "a", "replace": "a", "change_id": "same"}]
    (warning,) = listed(warned("ab", edits))
    assert warning == {
        "code": "no_op_change",
        "detail": warning["detail"],
        "change_id": "same",
        "change_index": 2,
    }
    assert warning["detail"].startswith("The matched text equals its replacement")
    assert warned("ab", [{"match": "a", "replace": "A"}]) is None


@pytest.mark.req("WARN-005", "WARN-025")
def test_edits_that_undo_each_other_are_a_no_op_transaction_alone() -> None:
    diagnostic = warned("ab", [edit("a", "x"), edit("x", "a")])
    assert fields(diagnostic) == [{"code": "no_op_transaction"}]
    assert "version" in listed(diagnostic)[0]["detail"]
    assert codes(warned("ab", [edit("a", "a")])) == ["no_op_change", "no_op_transaction"]


BASIS = {
    "the first edit counts the original text": ("aXaXa", [edit("X", "Y", 2)], []),
    "the first occurrence is gone": ("a a a", [edit("a", "b", 1), edit("a", "c", 1)], [2]),
    "the index as it was read": ("a a a", [edit("a", "b", 1), edit("a", "c", 2)], [3]),
    "descending indexes keep their meaning": ("a a a", [edit("a", "b", 3), edit("a", "c", 2)], []),
    "an earlier edit behind the place": ("a b a", [edit("b", "", 1), edit("a", "c", 1)], []),
    "produced text": ("cat\n", [edit("cat", "cat dog"), edit("cat", "cow", 1)], [None]),
    "a produced one comes before": ("z a", [edit("z", "a"), edit("a", "c", 2)], [1]),
    "text that a no-op produced": ("a", [edit("a", "a"), edit("a", "c", 1)], [None]),
    "straddling at the end": ("ax", [edit("x", "b"), edit("ab", "c", 1)], [None]),
    "straddling at the start": ("xb", [edit("x", "a"), edit("ab", "c", 1)], [None]),
    "produced in the middle": ("axc", [edit("x", "b"), edit("abc", "z", 1)], [None]),
    "joined by a deletion": ("a-b", [edit("-", ""), edit("ab", "c", 1)], [None]),
    "joined beside an original one": ("a-b ab", [edit("-", ""), edit("ab", "c", 2)], [1]),
    "not joined, only beside a deletion": ("-ab", [edit("-", ""), edit("ab", "c", 1)], []),
    "overlapping occurrences count": ("-aaaa", [edit("-", "aab"), edit("aa", "c", 3)], [2]),
    "without an index": ("cat", [edit("cat", "dog cat"), edit("cat", "cow")], []),
}


@pytest.mark.req("WARN-006", "WARN-007", "WARN-008", "WARN-009", "WARN-010", "WARN-011")
@pytest.mark.parametrize(("text", "edits", "expected"), BASIS.values(), ids=BASIS.keys())
def test_the_basis_of_an_occurrence_index(
    text: str, edits: list[dict[str, Any]], expected: list[int | None]
) -> None:
    shifts = [
        item
        for item in fields(warned(text, edits))
        if item["code"] == "occurrence_index_basis_shift"
    ]
    assert shifts == [
        {
            "code": "occurrence_index_basis_shift",
            "change_id": f"chg_{len(edits):03d}",
            "change_index": len(edits),
            "occurrence_index": edits[-1]["occurrence_index"],
            "transaction_start_occurrence_index": then,
        }
        for then in expected
    ]


def test_an_insertion_that_a_deletion_takes_back_leaves_the_occurrence_what_it_was() -> None:
    # the two parts are neighbours in the original text, so nothing was joined that was not one
    edits = [edit("ab", "ab"), edit("-", "<>"), edit("<>", ""), edit("cd", "x", 1)]
    assert "occurrence_index_basis_shift" not in codes(warned("ab-cd", edits))
    warnings = TransactionWarnings("ab ab")
    warnings.note("ab ab", AppliedSpan(Placed(1, "in", "--"), 4, ""))
    warnings.note("ab a--b", AppliedSpan(Placed(2, "out", ""), 4, "--"))
    last = evaluate("ab ab", decode_edits("i", [edit("ab", "x", 2)])).applied[0]
    warnings.note("ab ab", last)
    assert warnings.finish("ab x") is None


def test_the_sentence_of_a_basis_shift_names_both_indexes() -> None:
    (shift,) = listed(warned("a a a", [edit("a", "b", 1), edit("a", "c", 2)]))
    assert "occurrence_index 2 selected" in shift["detail"]
    assert "had index 3 at transaction start" in shift["detail"]
    (shift,) = listed(warned("cat\n", [edit("cat", "cat dog"), edit("cat", "cow", 1)]))
    assert "occurrence_index 1 selected text that earlier changes" in shift["detail"]


@pytest.mark.req("WARN-021", "WARN-022", "WARN-024")
def test_a_span_that_splits_at_both_ends_is_warned_about_twice() -> None:
    # e, acute, diaeresis: the acute alone is replaced
    diagnostic = warned("ae\u0301\u0308", [edit("\u0301", "")])
    assert fields(diagnostic) == [
        {
            "code": "grapheme_boundary_split",
            "change_id": "chg_001",
            "change_index": 1,
            "boundary": boundary,
            "offset": offset,
        }
        for boundary, offset in (("start", 2), ("end", 3))
    ]
    start, end = (item["detail"] for item in listed(diagnostic))
    assert start.startswith("The start boundary at code point 2 ")
    assert "between U+0065 and U+0301" in start
    assert end.startswith("The end boundary at code point 3 ")
    assert "between U+0301 and U+0308" in end


@pytest.mark.req("WARN-021", "WARN-022")
def test_an_insertion_is_warned_about_once_at_its_sequential_offset() -> None:
    # the first insertion moves the boundary inside the flag from 1 to 4
    diagnostic = warned_spans("\U0001f1e9\U0001f1ea", [(0, 0, "abc"), (4, 4, "-")])
    assert [(item["boundary"], item["offset"]) for item in fields(diagnostic)] == [("insertion", 4)]
    assert listed(diagnostic)[0]["change_id"] == "s2"
    assert listed(diagnostic)[0]["detail"].startswith("The insertion boundary at code point 4 ")


@pytest.mark.req("WARN-020")
def test_insertions_and_spans_at_start_end_and_after_line_feed_do_not_warn() -> None:
    assert warned_spans("\u0301a\n\u0301", [(4, 4, "x"), (3, 3, "x"), (0, 0, "x")]) is None
    assert warned_spans("\u0301a\n\u0301", [(3, 4, "x"), (0, 3, "x")]) is None


@pytest.mark.req("WARN-020")
@pytest.mark.parametrize("text", ["", "\u0301e\u0301", "\U0001f1e9"])
def test_a_whole_replacement_has_no_boundary_inside_the_text(text: str) -> None:
    assert warned_spans(text, [(0, len(text), "x")]) is None
    expected = ["no_op_change", "no_op_transaction"]
    assert codes(warned_spans(text, [(0, len(text), text)])) == expected


def test_the_warnings_of_a_change_come_in_the_contract_s_order() -> None:
    text = "-e\u0301\u0308-e\u0301\u0308"
    edits = [edit("e\u0301", "E", 1), edit("\u0301", "\u0301", 1), edit("E", "e\u0301")]
    assert [(item["code"], item.get("change_index")) for item in listed(warned(text, edits))] == [
        ("grapheme_boundary_split", 1),
        ("no_op_change", 2),
        ("occurrence_index_basis_shift", 2),
        ("grapheme_boundary_split", 2),
        ("grapheme_boundary_split", 2),
        ("grapheme_boundary_split", 3),
        ("no_op_transaction", None),
    ]


@pytest.mark.req("WARN-026", "WARN-028")
@pytest.mark.parametrize(
    ("same", "changed", "count"), [(15, 0, 16), (15, 1, 15), (16, 1, 16), (17, 1, 17), (16, 0, 17)]
)
def test_sixteen_warnings_are_listed_and_all_are_counted(
    same: int, changed: int, count: int
) -> None:
    text = "".join(f"<{i}>" for i in range(same)) + "z"
    edits = [edit(f"<{i}>", f"<{i}>") for i in range(same)] + [edit("z", "y")] * changed
    diagnostic = warned(text, edits)
    assert diagnostic is not None
    assert list(diagnostic) == ["warnings", "warning_count", "warnings_truncated"]
    assert diagnostic["warning_count"] == count
    assert diagnostic["warnings_truncated"] is (count > 16)
    indexes = [item.get("change_index") for item in diagnostic["warnings"]]
    every = [*range(1, same + 1), *([] if changed else [None])]
    assert indexes == every[:16]


@pytest.mark.req("WARN-023", "WARN-024", "WARN-026", "WARN-027", "WARN-028")
@pytest.mark.parametrize(("count", "shown"), [(1, 1), (16, 16), (17, 16)])
def test_the_answer_shows_the_warnings_as_strings_and_objects(count: int, shown: int) -> None:
    text = "".join(f"<{i}>" for i in range(count)) + "z"
    edits = [edit(f"<{i}>", f"<{i}>") for i in range(count)] + [edit("z", "y")]
    recorded = {"after_hash": "h", "after_version": 1, "pdcp_log_id": "l", "changes": []}
    recorded["diagnostic"] = warned(text, edits)
    answer = accepted("t", "g", recorded, Observed(1, "h"))
    assert len(answer["warnings"]) == len(answer["warning_details"]) == shown
    for string, item in zip(answer["warnings"], answer["warning_details"], strict=True):
        assert string == f"no_op_change: {item['detail']}"
        assert {"code", "detail", "change_id", "change_index"} == set(item)
    assert answer["warning_count"] == count
    assert answer["warnings_truncated"] is (count > 16)


def test_ten_thousand_changes_of_a_megabyte_take_seconds() -> None:
    # from the last "x" to the first, so that each change moves every piece that is behind it
    count = 10_000
    text = ("x" + "a" * 99) * count
    change = decode_edits("i", [edit("x", "", 1)])[0]
    warnings = TransactionWarnings(text)
    began = time.process_time()
    for number in reversed(range(count)):
        # only what is before and at the place is looked at, and that is still the original text
        warnings.note(text, AppliedChange(change, 100 * number, 100 * number, "x"))
    assert time.process_time() - began < 20
    diagnostic = warnings.finish("")
    assert diagnostic is not None
    # neither the first change nor the one whose index is the original one
    assert diagnostic["warning_count"] == count - 2
    assert diagnostic["warnings"][-1]["transaction_start_occurrence_index"] == count - 16
