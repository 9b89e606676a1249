"""Span operations: where they apply, what they check and in which order, and the evidence."""

from __future__ import annotations

import pytest

from tests.support.documents import ServiceCaller, content_of, document, sha256
from tests.support.proposals import OPERATIONS, admitted, match, propose, span, turned_down


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


def operated(caller, text, *operations):
    """The text that the operations make of this text."""
    target = document(caller, text)["target_file_id"]
    answer = admitted(caller, OPERATIONS, target, list(operations))
    content = content_of(caller, target)
    assert answer["after_hash"] == sha256(content)
    return content


def refused(caller, text, *operations, reason, **arguments):
    target = document(caller, text)["target_file_id"]
    return turned_down(caller, OPERATIONS, target, list(operations), reason, **arguments)


@pytest.mark.req("TX2-015", "TX2-018", "TX2-021", "TX2-031")
def test_where_spans_apply(caller):
    assert operated(caller, "abcdef", span(0, 3, "abc", "X")) == "Xdef"
    assert operated(caller, "abc", span(2, 3, "c", "")) == "ab"
    assert operated(caller, "abc", span(0, 3, "abc", "")) == ""
    assert operated(caller, "abc", span(0, 0, "", "X")) == "Xabc"
    assert operated(caller, "abc", span(2, 2, "", "X\n")) == "abX\nc"
    assert operated(caller, "abc", span(3, 3, "", "X", expected_before="abc")) == "abcX"
    assert operated(caller, "", span(0, 0, "", "X")) == "X"
    assert operated(caller, "\U0001f600ab\n", span(1, 2, "a", "X")) == "\U0001f600Xb\n"
    assert operated(caller, "e\u0301\r\nf", span(2, 3, "\n", "\u2028")) == "e\u0301\u2028f"
    answer = refused(
        caller, "\U0001f600ab\n", span(2, 3, "a", "X"), reason="span_expected_text_mismatch"
    )
    assert answer["diagnostic"]["actual_text"] == "b"


@pytest.mark.req("TX2-016", "TX2-017", "TX2-029")
def test_spans_count_the_buffer_that_earlier_operations_left(caller):
    text = "one two three"
    descending = [span(8, 13, "three", "3"), span(4, 7, "two", "2"), span(0, 3, "one", "1")]
    assert operated(caller, text, *descending) == "1 2 3"
    shifted = [span(0, 3, "one", "1"), span(2, 5, "two", "2"), span(4, 9, "three", "3")]
    assert operated(caller, text, *shifted) == "1 2 3"
    ascending = descending[::-1]
    answer = refused(caller, text, *ascending, reason="span_expected_text_mismatch")
    assert answer["failed_change_id"] == "chg_002"
    assert operated(caller, text, match("one", "1111"), span(5, 8, "two", "2")) == "1111 2 three"
    inside = [span(0, 0, "", "new "), span(0, 4, "new ", "old "), match("old one", "x")]
    assert operated(caller, text, *inside) == "x two three"
    context = {"expected_before": "1 ", "expected_after": " three"}
    assert (
        operated(caller, text, match("one", "1"), span(2, 5, "two", "2", **context)) == "1 2 three"
    )
    for stale in ({"expected_before": "one "}, {"expected_before": "e "}):
        spans = [match("one", "1"), span(2, 5, "two", "2", **stale)]
        refused(caller, text, *spans, reason="span_expected_text_mismatch")


@pytest.mark.req("TX2-019", "TX2-020", "TX2-028")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_spans_become_lf(caller, end):
    text = "a\nb\nc\nd"
    assert operated(caller, text, span(0, 3, f"a{end}b", f"1{end}{end}2")) == "1\n\n2\nc\nd"
    context = {"expected_before": f"a{end}", "expected_after": f"{end}c"}
    assert operated(caller, text, span(2, 3, "b", "", **context)) == "a\n\nc\nd"
    assert operated(caller, "a\n\nb", span(0, 4, "a\r\r\nb", "\n\r")) == "\n\n"
    refused(caller, text, span(0, 3, "a\r\r\nb", ""), reason="span_expected_text_mismatch")


@pytest.mark.req("TX2-023", "TX2-024", "TX2-025", "TX2-027", "TX2-032")
def test_span_context_is_adjacent(caller):
    text = "# A\none\n# B\ntwo\n"
    mismatch = "span_expected_text_mismatch"
    for fields in (
        {"expected_before": "one\n"}, {"expected_before": "\n"}, {"expected_before": text[:8]},
        {"expected_after": "#"}, {"expected_after": text[8:]},
        {"expected_before": "one\n", "expected_after": "# B\n"},
    ):  # fmt: skip
        assert (
            operated(caller, text, span(8, 8, "", "new\n", **fields)) == "# A\none\nnew\n# B\ntwo\n"
        )
    for fields, check in (
        ({"expected_before": "# A"}, "expected_before"),
        ({"expected_before": "one"}, "expected_before"),
        ({"expected_before": "x" + text[:8]}, "expected_before"),
        ({"expected_before": "One\n"}, "expected_before"),
        ({"expected_after": "two"}, "expected_after"),
        ({"expected_after": " # B"}, "expected_after"),
        ({"expected_after": text[8:] + "x"}, "expected_after"),
        ({"expected_before": "one\n", "expected_after": "x"}, "expected_after"),
    ):
        answer = refused(caller, text, span(8, 8, "", "new\n", **fields), reason=mismatch)
        assert answer["diagnostic"]["span_check"] == check
    assert operated(caller, text, span(4, 7, "one", "1", expected_after="\n# B")) == text.replace(
        "one", "1"
    )
    refused(caller, text, span(4, 7, "one", "1", expected_after="e\n"), reason=mismatch)
    refused(caller, text, span(4, 7, "One", "1"), reason=mismatch)


@pytest.mark.req("TX2-022")
def test_an_insertion_expects_no_text(caller):
    for start in (0, 1, 3):
        answer = refused(
            caller, "abc", span(start, start, "b", "X"), reason="span_expected_text_mismatch"
        )
        diagnostic = answer["diagnostic"]
        assert (diagnostic["span_check"], diagnostic["actual_text"]) == ("expected_text", "")
        assert (diagnostic["expected_chars"], diagnostic["actual_chars"]) == (1, 0)
    refused(caller, "abc", span(1, 2, "", "X"), reason="span_expected_text_mismatch")


EVIDENCE = ("actual_text", "actual_text_truncated", "expected_chars", "actual_chars")


@pytest.mark.req("TX2-033", "TX2-034", "TX2-036", "TX2-032")
def test_the_order_of_checks(caller):
    wrong = {"expected_before": "x", "expected_after": "y"}
    for operation, check in (
        (span(2, 4, "zz", "", **wrong), "bounds"),
        (span(1, 2, "zz", "", **wrong), "expected_text"),
        (span(1, 2, "b", "", **wrong), "expected_before"),
        (span(1, 2, "b", "", **{**wrong, "expected_before": "a"}), "expected_after"),
    ):
        reason = "span_out_of_bounds" if check == "bounds" else "span_expected_text_mismatch"
        diagnostic = refused(caller, "abc", operation, reason=reason)["diagnostic"]
        assert (diagnostic["span_check"], diagnostic["buffer_length"]) == (check, 3)
        assert [name for name in EVIDENCE if name in diagnostic] == (
            [] if check == "bounds" else list(EVIDENCE)
        )


@pytest.mark.req("TX2-035")
@pytest.mark.parametrize("operation", [span(4, 5, "", ""), span(0, 1, "x", "")])
def test_the_buffer_length_is_that_of_the_failing_buffer(caller, operation):
    target = document(caller, "\U0001f600bc")["target_file_id"]
    answer = propose(caller, OPERATIONS, target, [operation])
    assert answer["diagnostic"]["buffer_length"] == 3
    shorter = propose(caller, OPERATIONS, target, [match("bc", ""), operation])
    assert shorter["diagnostic"]["buffer_length"] == 1
    longer = propose(caller, OPERATIONS, target, [span(3, 3, "", "\r\n"), operation])
    assert longer["status"] == "rejected"
    assert longer["diagnostic"]["buffer_length"] == 4


LETTERS = "".join(chr(0x1F600 + number) for number in range(200))


@pytest.mark.req("TX2-037", "TX2-038", "TX2-039")
@pytest.mark.parametrize("chars", [1, 63, 64, 65, 90])
def test_actual_text_is_what_is_there(caller, chars):
    cut = chars > 64
    before, inside, after = LETTERS[100 - chars : 100], LETTERS[100 : 100 + chars], None
    after = LETTERS[110 : 110 + chars]
    for operation, actual in (
        (span(100, 100 + chars, "\r\n" * 70, ""), inside[:64]),
        (span(100, 110, LETTERS[100:110], "", expected_before="\r\n" * chars), before[-64:]),
        (span(100, 110, LETTERS[100:110], "", expected_after="\r\n" * chars), after[:64]),
    ):
        diagnostic = refused(caller, LETTERS, operation, reason="span_expected_text_mismatch")[
            "diagnostic"
        ]
        expected = 70 if diagnostic["span_check"] == "expected_text" else chars
        assert {name: diagnostic[name] for name in EVIDENCE} == {
            "actual_text": actual,
            "actual_text_truncated": cut,
            "expected_chars": expected,
            "actual_chars": chars,
        }


@pytest.mark.req("TX2-027", "TX2-039")
@pytest.mark.parametrize("field", ["expected_before", "expected_after"])
def test_context_that_reaches_past_the_text(caller, field):
    place = {"expected_before": 2, "expected_after": 198}[field]
    operation = span(place, place, "", "x", **{field: "y" * 100})
    diagnostic = refused(caller, LETTERS, operation, reason="span_expected_text_mismatch")[
        "diagnostic"
    ]
    actual = {"expected_before": LETTERS[:2], "expected_after": LETTERS[198:]}[field]
    assert {name: diagnostic[name] for name in EVIDENCE} == {
        "actual_text": actual,
        "actual_text_truncated": False,
        "expected_chars": 100,
        "actual_chars": 2,
    }


@pytest.mark.req("TX2-031", "TX2-032", "TX2-034")
def test_an_insertion_that_lands_elsewhere(caller):
    text = "# A\none\n# B\ntwo\n"
    answer = refused(
        caller, text, span(16, 16, "", "new\n", expected_before="one\n"),
        reason="span_expected_text_mismatch",
    )  # fmt: skip
    diagnostic = answer["diagnostic"]
    assert (diagnostic["span_check"], diagnostic["actual_text"]) == ("expected_before", "two\n")
    assert (diagnostic["expected_chars"], diagnostic["actual_chars"]) == (4, 4)
    operation = span(17, 17, "", "new\n", expected_before="one\n")
    answer = refused(caller, text, operation, reason="span_out_of_bounds")
    assert answer["diagnostic"]["buffer_length"] == 16
