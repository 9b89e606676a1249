"""patchdiff_submit_edits: the shape of edits, selectors, and how edits are applied."""

from __future__ import annotations

import pytest

from tests.support.documents import accepted, change, content_of, document, rejected, sha256

TEXT = "alpha beta alpha\n"


@pytest.fixture
def target(client):
    return document(client, TEXT)["target_file_id"]


def protocol_invalid(client, target, *edits, **arguments):
    answer = rejected(client, target, *edits, reason="protocol_invalid", **arguments)
    assert answer["validity"]["protocol_valid"] is False
    assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
    return answer


def edited(client, text, *edits):
    """The text that the edits make of this text."""
    target = document(client, text)["target_file_id"]
    answer = accepted(client, target, *edits)
    content = content_of(client, target)
    assert answer["after_hash"] == sha256(content)
    return content


def refused(client, text, *edits, reason):
    return rejected(client, document(client, text)["target_file_id"], *edits, reason=reason)


@pytest.mark.req("TX1-001")
@pytest.mark.parametrize("edits", [[], None, {}, change("beta", "x"), "", "beta", 5, True])
def test_edits_is_a_non_empty_list(client, target, edits):
    protocol_invalid(client, target, edits=edits)


@pytest.mark.req("TX1-002")
@pytest.mark.parametrize("match", [None, "", 5, True, ["beta"], {}])
def test_match_is_a_non_empty_string(client, target, match):
    protocol_invalid(client, target, {"match": match, "replace": "x"})


@pytest.mark.req("TX1-002", "TX1-003")
def test_match_and_replace_are_required(client, target):
    protocol_invalid(client, target, {"replace": "x"})
    protocol_invalid(client, target, {"match": "beta"})
    protocol_invalid(client, target, {})
    protocol_invalid(client, target, change("beta", "x"), {"match": "alpha"})


@pytest.mark.req("TX1-003")
@pytest.mark.parametrize("replace", [None, 5, False, ["x"], {}])
def test_replace_is_a_string(client, target, replace):
    protocol_invalid(client, target, {"match": "beta", "replace": replace})


@pytest.mark.req("TX1-004", "TX1-016")
def test_an_empty_replacement_deletes(client):
    assert edited(client, "a b\n", change(" b", "")) == "a\n"
    assert edited(client, "a", change("a", "")) == ""


@pytest.mark.req("TX1-005")
@pytest.mark.parametrize(
    "field", ["op", "start", "expected_text", "Match", "", "match ", "intent", "expected_before"]
)
@pytest.mark.parametrize("value", ["match", None])
def test_unknown_edit_fields(client, target, field, value):
    protocol_invalid(client, target, change("beta", "x", **{field: value}))


@pytest.mark.req("TX1-005", "TX1-008", "TX1-013", "TX1-014", "TX1-015", "TX1-023", "TX1-030")
def test_all_edit_fields_together_and_as_null(client, target):
    every = {
        "change_id": "k",
        "rationale": "why",
        "risk": "low",
        "occurrence_index": 1,
        "anchor_before": "alpha",
        "anchor_after": "alpha",
    }
    answer = accepted(client, target, change("beta", "b", **every))
    assert answer["evidence"]["changes"][0]["change_id"] == "k"
    answer = accepted(
        client, target, change(" b ", "c", **dict.fromkeys(every)), expected_target_version=1
    )
    assert answer["evidence"]["changes"][0]["change_id"] == "chg_001"


@pytest.mark.req("TX1-006")
@pytest.mark.parametrize("edit", [None, "beta", 5, True, [], ["beta", "x"]])
def test_an_edit_is_an_object(client, target, edit):
    protocol_invalid(client, target, edit)
    protocol_invalid(client, target, change("beta", "x"), edit)


@pytest.mark.req("TX1-007")
@pytest.mark.parametrize("intent", [None, 5, True, [], ["t"], {}])
def test_intent_is_a_string(client, target, intent):
    protocol_invalid(client, target, change("beta", "x"), intent=intent)


@pytest.mark.req("TX1-008")
def test_default_change_ids(client, target):
    edits = [
        change("beta", "b", change_id=None),
        change("\n", "!", change_id="own"),
        change("!", "?"),
    ]
    answer = accepted(client, target, *edits)
    assert [fact["change_id"] for fact in answer["evidence"]["changes"]] == [
        "chg_001",
        "own",
        "chg_003",
    ]


@pytest.mark.req("TX1-009")
@pytest.mark.parametrize("change_id", ["a", "0", "-", "_", ".", "aZ09_.-", "x" * 64])
def test_change_ids_within_the_rule(client, target, change_id):
    answer = accepted(client, target, change("beta", "x", change_id=change_id))
    assert answer["evidence"]["changes"][0]["change_id"] == change_id


@pytest.mark.req("TX1-009", "TX1-010")
@pytest.mark.parametrize(
    "change_id",
    ["x" * 65, "", " ", "a b", "a/b", "\xe9", "\u0661", "a\n", "a:b", "a+b", 5, True, [], {}],
)
def test_change_ids_outside_the_rule(client, target, change_id):
    protocol_invalid(client, target, change("beta", "x", change_id=change_id))


@pytest.mark.req("TX1-011", "TX1-012")
def test_duplicate_change_ids(client, target):
    protocol_invalid(
        client, target, change("beta", "b", change_id="k"), change("\n", "", change_id="k")
    )
    protocol_invalid(client, target, change("beta", "b", change_id="chg_002"), change("\n", ""))
    protocol_invalid(client, target, change("beta", "b"), change("\n", "", change_id="chg_001"))
    accepted(client, target, change("beta", "b", change_id="k"), change("\n", "", change_id="K"))


@pytest.mark.req("TX1-013")
@pytest.mark.parametrize("rationale", [5, True, [], ["why"], {}])
def test_rationale_is_a_string_or_null(client, target, rationale):
    protocol_invalid(client, target, change("beta", "x", rationale=rationale))


@pytest.mark.req("TX1-014")
@pytest.mark.parametrize("risk", ["", "Low", "HIGH", "none", "low ", 1, True, ["low"], {}])
def test_other_risks(client, target, risk):
    protocol_invalid(client, target, change("beta", "x", risk=risk))


@pytest.mark.req("TX1-014")
def test_risks(client):
    for risk in ("low", "medium", "high", None):
        assert edited(client, "a\n", change("a", "b", risk=risk)) == "b\n"


@pytest.mark.req("TX1-015")
@pytest.mark.parametrize("index", [0, -1, -(10**40), True, False, "1", "", 1.0, 1.5, [1], {}])
def test_bad_occurrence_indexes(client, target, index):
    protocol_invalid(client, target, change("alpha", "x", occurrence_index=index))


@pytest.mark.req("TX1-016", "TX1-017", "TX1-018", "TX1-019", "TX1-043")
def test_a_match_must_occur_exactly_once(client):
    assert edited(client, "one two\n", change("two", "2")) == "one 2\n"
    assert edited(client, "x", change("x", "y")) == "y"
    refused(client, "one\n", change("two", "2"), reason="match_absent")
    refused(client, "", change("a", "2"), reason="match_absent")
    refused(client, "aa\n", change("a", "2"), reason="match_ambiguous")
    refused(client, "aaa", change("aa", "b"), reason="match_ambiguous")
    refused(
        client, "begin\nAAA\nend\n", change("begin\nBBBBBBBB\nend\n", "x"), reason="match_absent"
    )
    refused(client, "\tx\n", change("    x", "y"), reason="match_absent")
    refused(client, "12\xa0km\n", change("12 km", "13 km"), reason="match_absent")


@pytest.mark.req("TX1-043")
@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("\xe9", "e\u0301"),
        ("e\u0301", "\xe9"),
        ("a", "A"),
        ("\u212a", "K"),
        ("\xdf", "ss"),
        ("\uff21", "A"),
    ],
)
def test_no_folding_and_no_normalization(client, text, match):
    refused(client, text, change(match, "x"), reason="match_absent")
    assert edited(client, text + match, change(match, "x")) == text + "x"


@pytest.mark.req("TX1-043")
def test_a_part_of_a_composed_text_matches_by_code_points(client):
    assert edited(client, "e\u0301!", change("e", "a")) == "a\u0301!"
    assert edited(client, "\U0001f600ab", change("a", "X")) == "\U0001f600Xb"
    assert edited(client, "say 'hi'\n", change("'hi'", "\u2018hi\u2019")) == "say \u2018hi\u2019\n"


@pytest.mark.req("TX1-020", "TX1-022", "TX1-023")
def test_occurrence_index(client):
    assert edited(client, "a a a\n", change("a", "b", occurrence_index=1)) == "b a a\n"
    assert edited(client, "a a a\n", change("a", "b", occurrence_index=3)) == "a a b\n"
    assert edited(client, "aaa", change("aa", "b", occurrence_index=1)) == "ba"
    assert edited(client, "aaa", change("aa", "b", occurrence_index=2)) == "ab"
    assert edited(client, "one\n", change("one", "1", occurrence_index=1)) == "1\n"
    refused(
        client, "one\n", change("one", "1", occurrence_index=2), reason="disambiguation_invalid"
    )
    refused(
        client, "a a a\n", change("a", "b", occurrence_index=4), reason="disambiguation_invalid"
    )
    refused(
        client, "a a a\n", change("a", "b", occurrence_index=2**63), reason="disambiguation_invalid"
    )


@pytest.mark.req("TX1-021", "TX1-033")
def test_occurrence_index_counts_the_buffer_that_the_edit_sees(client):
    first = change("a", "b", occurrence_index=1)
    assert edited(client, "a a a\n", first, change("a", "c", occurrence_index=1)) == "b c a\n"
    assert edited(client, "a a a\n", first, change("a", "c", occurrence_index=2)) == "b a c\n"
    refused(
        client,
        "a a a\n",
        first,
        change("a", "c", occurrence_index=3),
        reason="disambiguation_invalid",
    )
    assert (
        edited(client, "cat\n", change("cat", "cat dog"), change("cat", "cow", occurrence_index=1))
        == "cow dog\n"
    )


@pytest.mark.req("TX1-024", "TX1-025", "TX1-026")
def test_anchors_hold_anywhere(client):
    text = "head one two X three four tail\n"
    for anchors in (
        {"anchor_before": "head"},
        {"anchor_before": "two "},
        {"anchor_before": "head one two "},
        {"anchor_after": "tail"},
        {"anchor_after": " three"},
        {"anchor_before": "one", "anchor_after": "four"},
    ):
        assert edited(client, text, change("X", "Y", **anchors)) == text.replace("X", "Y")
    for anchors in (
        {"anchor_before": "tail"},
        {"anchor_after": "head"},
        {"anchor_before": "X"},
        {"anchor_after": "X"},
        {"anchor_before": "two X"},
        {"anchor_after": "X three"},
        {"anchor_before": "Head"},
        {"anchor_before": "head", "anchor_after": "nowhere"},
    ):
        refused(client, text, change("X", "Y", **anchors), reason="disambiguation_invalid")


@pytest.mark.req("TX1-024", "TX1-025", "TX1-026")
def test_an_anchor_may_end_or_begin_where_the_match_does(client):
    assert edited(client, "aXb", change("X", "Y", anchor_before="a", anchor_after="b")) == "aYb"
    refused(client, "aXb", change("aX", "Y", anchor_before="a"), reason="disambiguation_invalid")
    refused(client, "aXb", change("Xb", "Y", anchor_after="b"), reason="disambiguation_invalid")


@pytest.mark.req("TX1-027", "TX1-028", "TX1-029")
def test_selectors_hold_together(client):
    text = "def dev():\n    run(1)\ndef prod():\n    run(1)\n"
    upper = text.replace("run(1)", "RUN", 1)
    lower = text[::-1].replace("run(1)"[::-1], "NUR", 1)[::-1]

    def selected(**selectors):
        return edited(client, text, change("run(1)", "RUN", **selectors))

    assert selected(anchor_before="def prod") == lower
    assert selected(anchor_after="def prod") == upper
    assert selected(occurrence_index=2) == lower
    assert selected(occurrence_index=2, anchor_before="def prod") == lower
    assert selected(occurrence_index=1, anchor_before="def dev", anchor_after="def prod") == upper
    assert selected(anchor_before="def dev", anchor_after="prod") == upper
    for selectors in (
        {"occurrence_index": 2, "anchor_after": "def prod"},
        {"occurrence_index": 1, "anchor_before": "def prod"},
        {"occurrence_index": 1, "anchor_before": "def dev", "anchor_after": "nowhere"},
        {"occurrence_index": 3},
        {"anchor_before": "def prod", "anchor_after": "def prod"},
    ):
        refused(client, text, change("run(1)", "RUN", **selectors), reason="disambiguation_invalid")
    for selectors in (
        {"anchor_before": "def dev"},
        {"anchor_after": "\n"},
        {"anchor_before": "", "anchor_after": ""},
        {"anchor_before": None, "anchor_after": None, "occurrence_index": None},
    ):
        refused(client, text, change("run(1)", "RUN", **selectors), reason="match_ambiguous")


@pytest.mark.req("TX1-030")
def test_an_empty_anchor_holds_trivially(client):
    for anchors in (
        {"anchor_before": ""},
        {"anchor_after": ""},
        {"anchor_before": "", "anchor_after": ""},
    ):
        assert edited(client, "X", change("X", "Y", **anchors)) == "Y"
        assert edited(client, "XX", change("X", "Y", occurrence_index=2, **anchors)) == "XY"


@pytest.mark.req("TX1-031")
@pytest.mark.parametrize("anchor", [5, True, [], ["alpha"], {}])
def test_anchors_are_strings(client, target, anchor):
    protocol_invalid(client, target, change("beta", "x", anchor_before=anchor))
    protocol_invalid(client, target, change("beta", "x", anchor_after=anchor))


@pytest.mark.req("TX1-032")
def test_line_ends_of_a_proposal_become_lf(client):
    text = "one\ntwo\nthree\n"
    for end in ("\r\n", "\r", "\n"):
        assert edited(client, text, change(f"one{end}two", "x")) == "x\nthree\n"
        assert edited(client, text, change("two", f"2{end}{end}2")) == "one\n2\n\n2\nthree\n"
        anchors = {"anchor_before": f"one{end}", "anchor_after": f"{end}three"}
        assert edited(client, text, change("two", "2", **anchors)) == "one\n2\nthree\n"
    refused(client, text, change("one\r\r\ntwo", "x"), reason="match_absent")
    assert edited(client, "a\n\nb", change("a\r\r\nb", "x\n\ry")) == "x\n\ny"


@pytest.mark.req("TX1-033", "TX1-016")
def test_edits_apply_in_list_order(client):
    assert edited(client, "1", change("1", "2"), change("2", "3"), change("3", "4")) == "4"
    assert edited(client, "ab", change("a", "b", occurrence_index=1), change("bb", "c")) == "c"
    assert edited(client, "a b", change("a", "x"), change("b", "a"), change("x", "b")) == "b a"
    refused(client, "ab", change("bb", "c"), change("a", "b"), reason="match_absent")
    refused(
        client,
        "foo bar\n",
        change("foo bar", "baz"),
        change("bar", "qux"),
        reason="sequential_match_invalid",
    )


@pytest.mark.req("TX1-034")
def test_all_or_nothing(client):
    edits = [change(f"w{number}.", f"v{number}.", change_id=f"c{number}") for number in range(20)]
    text = "".join(f"w{number}.\n" for number in range(19))
    answer = refused(client, text, *edits, reason="match_absent")
    assert answer["failed_change_id"] == "c19"
    assert edited(client, text + "w19.", *edits) == text.replace("w", "v") + "v19."


@pytest.mark.req("TX1-037")
def test_no_admission_cap(client):
    target = document(client, "a")["target_file_id"]
    replace = "\u4e2d" * 1_000_001
    answer = accepted(client, target, change("a", replace))
    assert answer["evidence"]["changes"][0]["replacement_chars"] == 1_000_001
    assert answer["after_hash"] == sha256(replace)
    page = client.call("patchdiff_read_target", target_file_id=target, start=999_999)
    assert (page["total_chars"], page["text"]) == (1_000_001, "\u4e2d\u4e2d")


@pytest.mark.req("TX1-016", "TX1-043")
@pytest.mark.parametrize(
    "replace",
    [
        "$$100 $& $1 $`",
        "\\1 \\g<0> \\& %s {0}",
        "'; drop table x; --",
        "%(a)s %%",
        "\\\\n",
        "&amp;",
    ],
)
def test_texts_are_literal(client, replace):
    assert edited(client, "price: TOKEN\n", change("TOKEN", replace)) == f"price: {replace}\n"
    assert edited(client, f"price: {replace}\n", change(replace, "TOKEN")) == "price: TOKEN\n"
    refused(client, "price: TOKEN\n", change(".*", "x"), reason="match_absent")
    refused(client, "price: TOKEN\n", change("TOK%", "x"), reason="match_absent")
