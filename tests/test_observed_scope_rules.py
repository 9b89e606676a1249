"""Where an observed submission may change a text: single form, in offsets of the whole text."""

from __future__ import annotations

import pytest

from tests.support.documents import content_of, document, row_counts
from tests.support.observations import (
    SOURCE,
    receipt,
    single,
    source,
    submit_accepted,
    submit_refused,
)
from tests.support.proposals import admitted, match, span

OUTSIDE = "OPERATION_OUTSIDE_OBSERVED_SCOPE"
GUARDS_REQUIRED = "OBSERVED_INSERTION_GUARDS_REQUIRED"

# a scope of 19 code points, an astral one before it and one inside
TEXT = "# \U0001f600 before\n\ndef f(): return '\U0001f4a1'\n\n# after return\n"
START, END = 12, 31
assert TEXT[START:END] == "def f(): return '\U0001f4a1'"


@pytest.fixture
def observed(client):
    """A receipt of the function f of a new target of TEXT."""
    answer = receipt(client, source(client, TEXT), "f")
    assert (answer["scope_start"], answer["scope_end"]) == (START, END)
    return answer


def at(start, end, replace, text=TEXT, **fields):
    """A span of the text as it is."""
    return span(start, end, text[start:end], replace, **fields)


def applied(client, observed, expected, *operations):
    """Submit what must be accepted and lead to the expected text."""
    submit_accepted(client, single(observed, *operations))
    assert content_of(client, observed["target_file_id"]) == expected


def outside(client, admin, observed, *operations):
    """Submit what must be refused for its last operation, which leaves the scope."""
    answer = submit_refused(
        client, admin, single(observed, *operations), "span_out_of_bounds", OUTSIDE
    )
    assert answer["failed_change_id"] == f"chg_{len(operations):03d}"
    diagnostic = answer["diagnostic"]
    assert diagnostic["validation_stage"] == "transaction_applicability"
    assert diagnostic["retryable"] is True
    return answer


@pytest.mark.req("OBS-023")
@pytest.mark.parametrize(
    ("start", "end"),
    [(START, START + 3), (START + 4, START + 5), (END - 2, END), (START + 16, END)],
)
def test_a_span_inside(client, observed, start, end):
    applied(client, observed, f"{TEXT[:start]}new\n{TEXT[end:]}", at(start, end, "new\r\n"))


@pytest.mark.req("OBS-024")
@pytest.mark.parametrize("replace", ["", "x", "def g(): pass\n" * 40])
def test_the_whole_scope(client, observed, replace):
    applied(client, observed, TEXT[:START] + replace + TEXT[END:], at(START, END, replace))


@pytest.mark.req("OBS-024")
def test_the_whole_scope_by_a_match(client, observed):
    expected = f"{TEXT[:START]}g{TEXT[END:]}"
    applied(client, observed, expected, match(TEXT[START:END], "g"))


@pytest.mark.req("OBS-025", "OBS-036")
@pytest.mark.parametrize(
    ("start", "end"),
    [
        (START - 1, END),
        (START - 1, START + 1),
        (START - 1, START),
        (0, 1),
        (START, END + 1),
        (END - 1, END + 1),
        (END, END + 1),
        (START - 1, END + 1),
        (0, len(TEXT)),
        (len(TEXT) - 1, len(TEXT)),
    ],
)
def test_a_span_that_leaves_the_scope(client, admin, observed, start, end):
    answer = outside(client, admin, observed, at(start, end, "x"))
    assert "scope" in answer["failure_detail"]
    assert answer["diagnostic"]["span_check"] == "bounds"
    # that it could not have been applied anywhere else is told the same way
    outside(client, admin, observed, span(start, end, "nothing", "x"))
    applied(client, observed, TEXT[:START] + TEXT[END:], at(START, END, ""))


@pytest.mark.req("OBS-025")
@pytest.mark.parametrize("place", [len(TEXT) + 1, 10_000, 2**63 - 1])
def test_a_span_past_the_text(client, admin, observed, place):
    outside(client, admin, observed, span(place, place, "", "x", expected_before="a"))
    outside(client, admin, observed, span(START, place, "x", "y"))


@pytest.mark.req("OBS-025", "OBS-036")
@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({"expected_before": TEXT[START]}, True),
        ({"expected_before": TEXT[START - 1 : START + 1]}, False),
        ({"expected_after": TEXT[END - 1]}, True),
        ({"expected_after": TEXT[END - 1 : END + 1]}, False),
    ],
    ids=str,
)
def test_context_of_a_span_lies_in_the_scope_too(client, admin, observed, fields, fits):
    operation = at(START + 1, END - 1, "x", **fields)
    if fits:
        applied(client, observed, TEXT[: START + 1] + "x" + TEXT[END - 1 :], operation)
    else:
        outside(client, admin, observed, operation)


@pytest.mark.req("OBS-026", "OBS-036")
@pytest.mark.parametrize(
    "operation",
    [
        match("before", "x"),
        match("after", "x"),
        match("\n\ndef", "x"),
        match("'\n\n#", "x"),
        match("return", "x", occurrence_index=2),
        match("return", "x", anchor_before="after"),
        match(TEXT, "x"),
        match("\ndef f(): return '\U0001f4a1'", "x"),
        match("def f(): return '\U0001f4a1'\n", "x"),
    ],
    ids=lambda operation: operation["match"],
)
def test_a_match_outside(client, admin, observed, operation):
    outside(client, admin, observed, operation)


@pytest.mark.req("OBS-029", "OBS-026")
def test_matches_are_counted_in_the_whole_text(client, admin, observed):
    answer = submit_refused(
        client, admin, single(observed, match("return", "x")), "match_ambiguous"
    )
    assert answer["diagnostic"]["occurrence_count"] == 2
    for selector in ({"occurrence_index": 1}, {"anchor_after": "'"}, {"anchor_before": "f()"}):
        chosen = receipt(client, observed["target_file_id"], "f")
        if "anchor_before" in selector:  # which holds for both
            arguments = single(chosen, match("return", "x", **selector))
            submit_refused(client, admin, arguments, "match_ambiguous")
            continue
        submit_accepted(client, single(chosen, match("return", "return", **selector)))


@pytest.mark.req("OBS-027")
def test_the_end_moves_out(client, admin, observed):
    grow = at(START, START + 3, "x" * 13)
    grown = TEXT[:START] + "x" * 13 + TEXT[START + 3 :]
    outside(client, admin, observed, grow, at(END + 9, END + 11, "y", grown))
    outside(client, admin, observed, grow, at(END + 10, END + 11, "y", grown))
    expected = grown[: END + 9] + "y" + grown[END + 10 :]
    applied(client, observed, expected, grow, at(END + 9, END + 10, "y", grown))


@pytest.mark.req("OBS-028")
def test_the_end_moves_in(client, admin, observed):
    shrink = at(START, START + 10, "")
    shrunk = TEXT[:START] + TEXT[START + 10 :]
    outside(client, admin, observed, shrink, at(END - 10, END, "y", shrunk))
    outside(client, admin, observed, shrink, at(END - 11, END - 9, "y", shrunk))
    expected = shrunk[: END - 11] + "y" + shrunk[END - 10 :]
    applied(client, observed, expected, shrink, at(END - 11, END - 10, "y", shrunk))


@pytest.mark.req("OBS-027", "OBS-028")
def test_the_end_moves_with_matches_and_insertions_too(client, admin, observed):
    inserted = at(START + 3, START + 3, " " * 10, expected_before="def", expected_after=" f")
    text = TEXT[: START + 3] + " " * 10 + TEXT[START + 3 :]
    outside(client, admin, observed, inserted, at(END + 10, END + 11, "", text))
    longer = match("f()", "f(" + "x" * 10 + ")")
    twice = text.replace("f()", "f(" + "x" * 10 + ")")
    outside(client, admin, observed, inserted, longer, at(END + 20, END + 21, "", twice))
    expected = twice[: END + 19] + twice[END + 20 :]
    applied(client, observed, expected, inserted, longer, at(END + 19, END + 20, "", twice))


def test_nothing_is_left_of_an_emptied_scope(client, admin, observed):
    empty = at(START, END, "")
    rest = TEXT[:START] + TEXT[END:]
    for operation in (
        at(START, START, "x", rest, expected_before="\n", expected_after="\n"),
        at(START - 1, START, "x", rest),
        at(START, START + 1, "x", rest),
    ):
        outside(client, admin, observed, empty, operation)


# ---- insertions


def inserting(place, before, after, text="+", **fields):
    return span(place, place, "", text, expected_before=before, expected_after=after, **fields)


@pytest.mark.req("OBS-030")
@pytest.mark.parametrize("place", [START + 1, START + 7, END - 1])
@pytest.mark.parametrize("size", [1, 100], ids=["one", "all"])
def test_an_insertion_inside(client, observed, place, size):
    before = TEXT[max(START, place - size) : place]
    after = TEXT[place : min(END, place + size)]
    applied(client, observed, f"{TEXT[:place]}+{TEXT[place:]}", inserting(place, before, after))


@pytest.mark.req("OBS-031")
@pytest.mark.parametrize("place", [START, END, START - 1, END + 1, 0, len(TEXT)])
def test_an_insertion_at_an_end_of_the_scope_or_beyond(client, admin, observed, place):
    before, after = TEXT[max(0, place - 1) : place] or "x", TEXT[place : place + 1] or "x"
    for fields in (
        {"expected_before": before, "expected_after": after},
        {"expected_before": before},
        {"expected_after": after},
        {"expected_before": None, "expected_after": None},
        {},
        {"expected_before": "wrong", "expected_after": "wrong"},
    ):
        outside(client, admin, observed, span(place, place, "", "+", **fields))
    # one code point further in the same call is accepted
    if place == START:
        applied(client, observed, f"{TEXT[:START]}d+{TEXT[START + 1 :]}", inserting(13, "d", "ef"))


@pytest.mark.req("OBS-032", "OBS-033")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"expected_before": "def"},
        {"expected_after": " f"},
        {"expected_before": None, "expected_after": " f"},
        {"expected_before": "def", "expected_after": None},
        {"expected_before": None, "expected_after": None},
    ],
    ids=str,
)
def test_an_insertion_needs_both_guards(client, admin, observed, fields):
    operation = span(START + 3, START + 3, "", "+", **fields)
    answer = submit_refused(
        client, admin, single(observed, operation), "span_expected_text_mismatch", GUARDS_REQUIRED
    )
    missing = "expected_after" if fields.get("expected_before") else "expected_before"
    assert answer["diagnostic"]["span_check"] == missing
    assert answer["diagnostic"]["retryable"] is True
    complete = {**operation, "expected_before": "def", "expected_after": " f"}
    applied(client, observed, TEXT.replace("def f", "def+ f"), complete)


@pytest.mark.req("OBS-032")
@pytest.mark.parametrize("name", ["expected_before", "expected_after"])
def test_an_empty_guard_is_malformed(client, admin, observed, name):
    operation = {**inserting(START + 3, "def", " f"), name: ""}
    submit_refused(client, admin, single(observed, operation), "protocol_invalid")


@pytest.mark.req("OBS-034")
@pytest.mark.parametrize(
    ("before", "after", "check"),
    [
        ("Def", " f", "expected_before"),
        ("ef ", " f", "expected_before"),
        ("def", "f", "expected_after"),
        ("def", " F", "expected_after"),
    ],
)
def test_a_guard_that_differs(client, admin, observed, before, after, check):
    operation = inserting(START + 3, before, after)
    answer = submit_refused(
        client, admin, single(observed, operation), "span_expected_text_mismatch"
    )
    assert answer["diagnostic"]["span_check"] == check


@pytest.mark.req("OBS-035")
@pytest.mark.parametrize(
    ("place", "before", "after"),
    [
        (START + 1, TEXT[START - 1 : START + 1], "e"),
        (END - 1, TEXT[END - 2], TEXT[END - 1 : END + 1]),
        (START + 1, "x" * 2, "e"),
        (START + 1, "x" * 5_000, "e"),
        (END - 1, "x", "x" * 2),
    ],
)
def test_a_guard_that_reaches_beyond(client, admin, observed, place, before, after):
    outside(client, admin, observed, inserting(place, before, after))


@pytest.mark.req("OBS-035", "OBS-030")
def test_guards_see_the_scope_as_it_is_by_then(client, admin, observed):
    grow = at(END - 1, END, "'; x")
    grown = TEXT[: END - 1] + "'; x" + TEXT[END:]
    cut = at(START, START + 4, "")
    rest = TEXT[:START] + TEXT[START + 4 :]
    outside(client, admin, observed, cut, inserting(START, "\n", "f"))
    outside(client, admin, observed, cut, inserting(START + 1, "\nf", "("))
    last = END + 3
    outside(client, admin, observed, grow, inserting(last, "x", "\n"))
    outside(client, admin, observed, grow, inserting(last - 1, " ", "x\n"))
    assert rest[START] == "f"
    expected = f"{grown[: last - 1]}+{grown[last - 1 :]}"
    applied(client, observed, expected, grow, inserting(last - 1, "; ", "x"))


@pytest.mark.req("OBS-030")
def test_an_insertion_expects_no_text(client, admin, observed):
    operation = {**inserting(START + 3, "def", " f"), "expected_text": " "}
    submit_refused(client, admin, single(observed, operation), "span_expected_text_mismatch")


# ---- the transaction as a whole


@pytest.mark.req("OBS-036")
def test_the_last_of_several_undoes_all(client, admin, observed):
    good = [at(START + place, START + place + 1, "x") for place in range(3)]
    outside(client, admin, observed, *good, at(END, END + 1, "x"))
    expected = f"{TEXT[:START]}xxx{TEXT[START + 3 :]}"
    applied(client, observed, expected, *good)


@pytest.mark.req("OBS-037")
def test_unobserved_insertions_need_no_context(client, admin, observed):
    target = document(client, "ab")["target_file_id"]
    for version, (place, text) in enumerate(((0, ""), (2, "x"), (4, "xx"))):
        tool = "patchdiff_submit_operations"
        admitted(
            client, tool, target, [span(place, place, "", "x")], expected_target_version=version
        )
        assert text.count("x") == version
    assert content_of(client, target) == "xaxbx"
    # nor a scope, on a target that has receipts
    observed_target = observed["target_file_id"]
    admitted(client, "patchdiff_submit_operations", observed_target, [span(0, 0, "", "x")])
    assert row_counts(admin, observed_target)["target_scope_observations"] == 1


def test_lines_with_cr_are_made_lf_in_guards_and_texts(client):
    target = source(client, "def f():\r\n    a\r\n    b\r\n")
    observed = receipt(client, target, "f")
    operations = (
        match("a\r\n", "c\r\n"),
        inserting(8, "():", "\r\n    c", " #"),
    )
    submit_accepted(client, single(observed, *operations))
    assert content_of(client, target) == "def f(): #\n    c\n    b\n"


def test_the_facts_are_absolute(client):
    target = source(client)
    observed = receipt(client, target, "Box.first")
    start = SOURCE.index("\U0001f600 one")
    answer = submit_accepted(client, single(observed, match("\U0001f600 one", "1")))
    [fact] = answer["evidence"]["changes"]
    assert (fact["span_start"], fact["span_end"]) == (start, start + 5)
