"""Observed batches: their shape and bounds, groups in their own scopes, and what is recorded."""

from __future__ import annotations

import json
import unicodedata

import psycopg
import pytest

from patchdiff import Service
from patchdiff.structure.engine import Engine
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    content_of,
    ledger,
    row_counts,
    sha256,
    state,
)
from tests.support.observations import (
    FIRST,
    OTHER,
    SOURCE,
    SUBMIT,
    alter_receipt,
    batch,
    bundle,
    function,
    group,
    receipt,
    receipts,
    single,
    source,
    submit_accepted,
    submit_refused,
    users,
)
from tests.support.proposals import fingerprint, match, row_of, rows, span

OUTSIDE = "OPERATION_OUTSIDE_OBSERVED_SCOPE"
ONE = match('"one"', '"1"')
TWO = match('"two"', '"2"')
EDITED = SOURCE.replace('return "one"', 'return "1"', 1).replace('"two"', '"2"')


@pytest.fixture
def observed(client):
    """A bundle of the functions first and other of a new target."""
    return bundle(client, source(client), ".first", "other")


def pair(observed, first=ONE, other=TWO):
    """One operation for each of two scopes."""
    return [group(observed["scopes"][0], first), group(observed["scopes"][1], other)]


def refused(client, admin, arguments, reason="protocol_invalid", code=None):
    """A batch that must be rejected whole."""
    ledgers = row_counts(admin, arguments["target_file_id"])["manifest_ledger"]
    answer = submit_refused(client, admin, arguments, reason, code)
    assert row_counts(admin, arguments["target_file_id"])["manifest_ledger"] == ledgers
    row = row_of(admin, answer)
    assert row["protocol_version"] == "patchdiff-observed-batch/1"
    assert answer["diagnostic"]["format"] == "patchdiff-observed-batch/1"
    return answer


def usable(client, observed):
    submit_accepted(client, batch(observed, pair(observed), "usable"))


@pytest.mark.req("BATCH-001", "BATCH-016", "BATCH-017", "BATCH-019", "BATCH-024")
def test_an_accepted_batch(client, admin, observed):
    target = observed["target_file_id"]
    arguments = batch(observed, pair(observed))
    assert set(arguments) == {
        "target_file_id", "observation_bundle_id", "groups", "intent", "expected_target_version",
        "expected_current_hash", "client_request_id",
    }  # fmt: skip
    answer = submit_accepted(client, arguments)
    assert content_of(client, target) == EDITED
    assert (answer["before_version"], answer["after_version"], answer["version"]) == (0, 1, 1)
    assert answer["observation_bundle_id"] == observed["observation_bundle_id"]
    assert (answer["group_count"], answer["change_count"]) == (2, 2)
    assert (answer["before_hash"], answer["after_hash"]) == (sha256(SOURCE), sha256(EDITED))
    starts = [SOURCE.index(FIRST), SOURCE.index(OTHER)]
    assert answer["groups"] == [
        {
            "observation_id": scope["observation_id"],
            "symbol": {"name": name, "kind": "function"},
            "scope_start": start,
            "scope_end": start + len(FIRST),
            "change_count": 1,
        }
        for scope, name, start in zip(observed["scopes"], ("first", "other"), starts, strict=True)
    ]
    assert "observation_id" not in answer
    [row] = rows(admin, target)
    assert (row["status"], row["before_version"], row["after_version"]) == ("accepted", 0, 1)
    assert row["protocol_version"] == "patchdiff-observed-batch/1"
    assert row["runtime_version"] == "patchdiff-observed-batch-r1"
    assert row["observation_id"] is None
    record = {
        "protocol": "patchdiff-observed-batch/1",
        **{name: arguments[name] for name in ("intent", "observation_bundle_id", "groups")},
    }
    assert json.loads(row["pdcp_content"]) == record
    assert row["request_fingerprint"] == fingerprint(
        "patchdiff-observed-batch/1", sha256(row["pdcp_content"]), 0, sha256(SOURCE)
    )
    assert client.call("patchdiff_get_target", target_file_id=target)["version"] == 1
    assert set(users(admin, target).values()) == {answer["pdcp_log_id"]}
    for used in receipts(admin, target):
        assert used["consumption"] == "batch"
        assert used["consumed_at"] is not None
    facts = answer["evidence"]["changes"]
    assert len(ledger(client, target)) == 2
    assert [(fact["span_start"], fact["span_end"]) for fact in facts] == [
        (SOURCE.index('"one"'), SOURCE.index('"one"') + 5),
        (SOURCE.index('"two"'), SOURCE.index('"two"') + 5),
    ]


@pytest.mark.req("BATCH-001")
@pytest.mark.parametrize(
    ("name", "reason", "code"),
    [
        ("observation_bundle_id", "context_invalid", "OBSERVATION_REQUIRED"),
        ("groups", "protocol_invalid", None),
        ("expected_target_version", "context_invalid", "guard_required"),
        ("expected_current_hash", "context_invalid", "guard_required"),
    ],
)
@pytest.mark.parametrize("null", [False, True], ids=["missing", "null"])
def test_what_a_batch_needs(client, admin, observed, name, reason, code, null):
    arguments = batch(observed, pair(observed))
    del arguments[name]
    refused(client, admin, {**arguments, **({name: None} if null else {})}, reason, code)
    usable(client, observed)


@pytest.mark.req("BATCH-001")
@pytest.mark.parametrize("intent", ["", " ", "\n\u2003", None, 5])
def test_the_intent(client, admin, observed, intent):
    refused(client, admin, batch(observed, pair(observed), intent=intent))


@pytest.mark.req("BATCH-002")
@pytest.mark.parametrize("null", [False, True], ids=["missing", "null"])
def test_a_batch_needs_a_key(client, admin, observed, null):
    arguments = batch(observed, pair(observed), None)
    arguments |= {"client_request_id": None} if null else {}
    code = "client_request_id_required"
    answer = refused(client, admin, arguments, "context_invalid", code)
    assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
    for key in ("", "\n", "x" * 129, 7):
        code = "invalid_client_request_id"
        arguments = batch(observed, pair(observed), client_request_id=key)
        refused(client, admin, arguments, "context_invalid", code)
    usable(client, observed)


@pytest.mark.req("BATCH-003")
def test_the_forms_do_not_mix(client, admin, observed):
    target = observed["target_file_id"]
    alone = receipt(client, target)
    good = batch(observed, pair(observed), "mixed")
    for number, extra in enumerate((
        {"observation_id": alone["observation_id"]},
        {"observation_id": "x"},
        {"operations": [ONE]},
        {"operations": []},
        {"observation_id": alone["observation_id"], "operations": [ONE]},
    )):  # fmt: skip
        answer = refused(client, admin, {**good, **extra, "client_request_id": f"k{number}"})
        record = json.loads(row_of(admin, answer)["pdcp_content"])
        assert {name: record[name] for name in extra} == extra
    one = {name: good[name] for name in good if name != "groups"}
    refused(client, admin, {**one, "operations": [ONE], "client_request_id": "k5"})
    one = {name: good[name] for name in good if name != "observation_bundle_id"}
    identifier = {"observation_id": alone["observation_id"]}
    refused(client, admin, {**one, **identifier, "client_request_id": "k6"})
    nothing = {"observation_id": None, "operations": None}
    submit_accepted(client, {**good, **nothing})


@pytest.mark.req("BATCH-004")
@pytest.mark.parametrize(("number", "status"), [(0, "rejected"), (1, "accepted"),
                                                (32, "accepted"), (33, "rejected")])  # fmt: skip
def test_from_1_to_32_groups(client, admin, number, status):
    names = [f"f{place}" for place in range(32)]
    text = "\n".join(function(name, 40) for name in names)
    target = source(client, text)
    observed = bundle(client, target, *names)
    groups = [group(scope, match('"x', '"y')) for scope in observed["scopes"]]
    groups = [*groups, {**groups[0], "observation_id": UNKNOWN_ID}][:number]
    if status == "rejected":
        answer = refused(client, admin, batch(observed, groups))
        assert "32" in answer["failure_detail"]
    else:
        answer = submit_accepted(client, batch(observed, groups))
        assert content_of(client, target) == text.replace('"x', '"y', number)
        assert (answer["group_count"], len(answer["groups"])) == (number, number)
        unused = [use for use in users(admin, target).values() if use is None]
        assert len(unused) == 32 - number


@pytest.mark.req("BATCH-005")
@pytest.mark.parametrize(
    ("sizes", "status"),
    [([128], "accepted"), ([129], "rejected"), ([64, 64], "accepted"), ([64, 65], "rejected"),
     ([1, 127], "accepted"), ([128, 1], "rejected")],
)  # fmt: skip
def test_at_most_128_operations(client, admin, sizes, status):
    target = source(client, f"{function('a', 200)}\n{function('b', 200)}\n")
    observed = bundle(client, target, "a", "b")
    groups = [
        group(scope, *(span(30 + place, 31 + place, "x", "y") for place in range(size)))
        for scope, size in zip(observed["scopes"], sizes, strict=False)
    ]
    if status == "rejected":
        answer = refused(client, admin, batch(observed, groups))
        assert "128" in answer["failure_detail"]
    else:
        answer = submit_accepted(client, batch(observed, groups))
        assert answer["change_count"] == answer["manifest_entries_added"] == 128
        assert content_of(client, target).count("y") == 128
        facts = answer["evidence"]["changes"]
        assert [fact["change_id"] for fact in facts] == [
            f"chg_{number:03d}" for number in range(1, 129)
        ]


@pytest.mark.req("BATCH-006", "BATCH-007", "BATCH-004")
@pytest.mark.parametrize(
    "change",
    [
        lambda good: {**good, "intent": "x"},
        lambda good: {**good, "symbol": "x"},
        lambda good: {"operations": good["operations"]},
        lambda good: {"observation_id": good["observation_id"]},
        lambda _: {},
        lambda good: {**good, "operations": []},
        lambda good: {**good, "operations": None},
        lambda good: {**good, "operations": {"0": ONE}},
        lambda good: {**good, "operations": [None]},
        lambda good: {**good, "operations": [{**ONE, "op": "replace"}]},
        lambda good: {**good, "operations": [{**ONE, "observation_id": "x"}]},
        lambda good: {**good, "operations": [span(3, 2, "", "")]},
        lambda good: [good],
        lambda _: "x",
        lambda _: None,
        lambda _: 7,
    ],
)
def test_the_shape_of_a_group(client, admin, observed, change):
    first, other = pair(observed)
    refused(client, admin, batch(observed, [first, change(other)], "k1"))
    refused(client, admin, batch(observed, [change(first), other], "k2"))
    usable(client, observed)


@pytest.mark.req("BATCH-004")
@pytest.mark.parametrize("groups", [{}, "x", 7, True, {"0": 1}], ids=str)
def test_groups_are_a_list(client, admin, observed, groups):
    refused(client, admin, batch(observed, groups))
    usable(client, observed)


@pytest.mark.req("BATCH-008")
def test_two_groups_of_one_receipt(client, admin, observed):
    first, other = pair(observed)
    for groups in ([first, first], [first, other, first]):
        key = f"k{len(groups)}"
        refused(client, admin, batch(observed, groups, key))
    usable(client, observed)


def test_two_changes_of_one_id_in_a_batch(client, admin, observed):
    groups = pair(observed, {**ONE, "change_id": "a"}, {**TWO, "change_id": "a"})
    assert refused(client, admin, batch(observed, groups))["failed_change_id"] == "a"
    groups = pair(observed, {**ONE, "change_id": "chg_002"}, TWO)
    refused(client, admin, batch(observed, groups, "k2"))


# ---- receipts


@pytest.mark.req("BATCH-009", "OBS-016", "OBS-017")
def test_a_receipt_outside_the_bundle(client, admin, observed):
    target = observed["target_file_id"]
    alone = receipt(client, target, "Box.first")
    another = bundle(client, target, "Box.first")["scopes"][0]
    code = "OBSERVATION_NOT_IN_BUNDLE"
    for number, stranger in enumerate((alone, another)):
        groups = [pair(observed)[0], group(stranger, match('one"', '1"'))]
        refused(client, admin, batch(observed, groups, f"k{number}"), "context_invalid", code)
    usable(client, observed)


@pytest.mark.req("BATCH-009", "OBS-007", "OBS-008", "OBS-009", "OBS-010", "OBS-016", "OBS-017")
@pytest.mark.parametrize("place", ["bundle", "first group", "second group"])
def test_receipts_that_are_none(client, admin, observed, place):
    elsewhere = bundle(client, source(client), ".first")
    foreign = elsewhere["observation_bundle_id"]
    if place != "bundle":
        foreign = elsewhere["scopes"][0]["observation_id"]
    for number, (value, code) in enumerate((
        (None, "OBSERVATION_REQUIRED"),
        ("", "INVALID_OBSERVATION_ID"),
        ("x", "INVALID_OBSERVATION_ID"),
        (7, "INVALID_OBSERVATION_ID"),
        ([], "INVALID_OBSERVATION_ID"),
        ({"a": 1}, "INVALID_OBSERVATION_ID"),
        (foreign.upper(), "INVALID_OBSERVATION_ID"),
        (UNKNOWN_ID, "UNKNOWN_OBSERVATION_ID"),
        (foreign, "OBSERVATION_TARGET_MISMATCH"),
    )):  # fmt: skip
        arguments = batch(observed, pair(observed), f"k{number}")
        if place == "bundle":
            arguments["observation_bundle_id"] = value
        else:
            arguments["groups"][place == "second group"]["observation_id"] = value
        refused(client, admin, arguments, "context_invalid", code)
    usable(client, observed)


def test_ids_of_the_wrong_sort(client, admin, observed):
    first = observed["scopes"][0]["observation_id"]
    arguments = batch(observed, pair(observed), observation_bundle_id=first)
    refused(client, admin, arguments, "context_invalid", "UNKNOWN_OBSERVATION_ID")
    arguments = batch(observed, pair(observed), "k2")
    arguments["groups"][0]["observation_id"] = observed["observation_bundle_id"]
    refused(client, admin, arguments, "context_invalid", "UNKNOWN_OBSERVATION_ID")


@pytest.mark.req("OBS-011", "OBS-012", "OBS-013", "OBS-014", "OBS-016", "OBS-017", "SCOPE-051")
@pytest.mark.parametrize("index", [0, 1])
def test_receipts_that_are_stale(client, admin, observed, index):
    target = observed["target_file_id"]
    identifier = observed["scopes"][index]["observation_id"]
    for number, (column, value, code) in enumerate((
        ("target_current_hash", "0" * 64, "STALE_OBSERVATION_HASH"),
        ("engine", "patchdiff-symbols@1+000000000000", "STALE_OBSERVATION_ENGINE"),
        ("target_version", 7, "STALE_OBSERVATION_VERSION"),
        ("scope_end", len(SOURCE), "STALE_OBSERVATION_SCOPE"),
    )):  # fmt: skip
        kept = next(row for row in receipts(admin, target) if row["observation_id"] == identifier)
        alter_receipt(admin, identifier, **{column: value})
        refused(client, admin, batch(observed, pair(observed), f"k{number}"), "context_invalid",
                code)  # fmt: skip
        alter_receipt(admin, identifier, **{column: kept[column]})
    assert client.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    code = "OBSERVATION_CYCLE_MISMATCH"
    refused(client, admin, batch(observed, pair(observed), "k5"), "context_invalid", code)


@pytest.mark.req("OBS-012", "OBS-018")
def test_a_consumed_receipt_of_a_batch(client, admin, observed):
    submit_accepted(client, batch(observed, pair(observed)))
    code = "OBSERVATION_ALREADY_CONSUMED"
    for groups in (pair(observed), pair(observed)[:1], pair(observed)[1:]):
        key = f"{len(groups)}{groups[0]['observation_id']}"
        refused(client, admin, batch(observed, groups, key), "context_invalid", code)
    scope = {**observed, "observation_id": observed["scopes"][0]["observation_id"]}
    submit_refused(client, admin, single(scope, ONE), "context_invalid", code)


@pytest.mark.req("BATCH-010")
def test_a_part_of_a_bundle(client, admin, observed):
    target = observed["target_file_id"]
    first, other = (scope["observation_id"] for scope in observed["scopes"])
    answer = submit_accepted(client, batch(observed, pair(observed)[1:]))
    assert users(admin, target) == {first: None, other: answer["pdcp_log_id"]}
    # the one left out is stale by now, but not used
    code = "STALE_OBSERVATION_VERSION"
    refused(client, admin, batch(observed, pair(observed)[:1], "k2"), "context_invalid", code)


@pytest.mark.req("BATCH-010", "BATCH-015", "OBS-021")
def test_a_rejected_batch_leaves_receipts_to_either_form(client, admin, observed):
    refused(client, admin, batch(observed, pair(observed, other=match("x", "y"))), "match_absent")
    scope = {**observed, "observation_id": observed["scopes"][0]["observation_id"]}
    start = SOURCE.index('"one"')
    submit_accepted(client, single(scope, span(start, start + 5, '"one"', '"1"')))
    expected = SOURCE.replace('return "one"', 'return "1"', 1)
    assert content_of(client, observed["target_file_id"]) == expected


# ---- groups in their own scopes


def local(text, start, end, replace, **fields):
    """A span of a scope's own text."""
    return span(start, end, text[start:end], replace, **fields)


@pytest.mark.req("BATCH-011")
def test_spans_count_from_the_scope_s_start(client, observed):
    first = local(FIRST, 0, 3, "async def")
    last = local(OTHER, len(OTHER) - 5, len(OTHER), "None")
    submit_accepted(client, batch(observed, pair(observed, first, last)))
    expected = SOURCE.replace("def first():", "async def first():", 1).replace('"two"', "None")
    assert content_of(client, observed["target_file_id"]) == expected


@pytest.mark.req("BATCH-011", "BATCH-015")
@pytest.mark.parametrize(("start", "end"), [(len(OTHER) - 1, len(OTHER) + 1),
                                            (len(OTHER), len(OTHER) + 1),
                                            (SOURCE.index(OTHER), SOURCE.index(OTHER) + 3),
                                            (0, len(OTHER) + 1)])  # fmt: skip
def test_a_span_that_leaves_its_group_s_scope(client, admin, observed, start, end):
    groups = pair(observed, other=span(start, end, "x", "y"))
    answer = refused(client, admin, batch(observed, groups), "span_out_of_bounds", OUTSIDE)
    assert answer["failed_change_id"] == "chg_002"
    assert answer["diagnostic"]["group_index"] == 1
    assert answer["diagnostic"]["observation_id"] == observed["scopes"][1]["observation_id"]
    usable(client, observed)


@pytest.mark.req("BATCH-011")
def test_the_end_of_a_group_s_scope_moves(client, admin, observed):
    size = len(FIRST)
    grow, shrink = local(FIRST, 0, 3, "x" * 13), local(FIRST, 0, 3, "")
    for number, (change, place) in enumerate(((grow, size + 10), (shrink, size - 3))):
        beyond = span(place - 1, place + 1, "x", "y")
        groups = [group(observed["scopes"][0], change, beyond)]
        refused(client, admin, batch(observed, groups, f"k{number}"), "span_out_of_bounds", OUTSIDE)
    groups = [group(observed["scopes"][0], grow, span(size + 9, size + 10, '"', "'"))]
    submit_accepted(client, batch(observed, groups))
    replaced = "x" * 13 + FIRST[3:-1] + "'"
    assert content_of(client, observed["target_file_id"]) == SOURCE.replace(FIRST, replaced)


@pytest.mark.req("BATCH-012")
@pytest.mark.parametrize(
    ("place", "before", "after", "reason", "code"),
    [
        (3, "def", " other", None, None),
        (1, "d", "e", None, None),
        (len(OTHER) - 1, "two", '"', None, None),
        (0, None, "def", "span_out_of_bounds", OUTSIDE),
        (0, "\n", "def", "span_out_of_bounds", OUTSIDE),
        (len(OTHER), '"', None, "span_out_of_bounds", OUTSIDE),
        (len(OTHER), '"', "\n", "span_out_of_bounds", OUTSIDE),
        (1, "\nd", "e", "span_out_of_bounds", OUTSIDE),
        (len(OTHER) - 1, "o", '"\n', "span_out_of_bounds", OUTSIDE),
        (3, "def", None, "span_expected_text_mismatch", "OBSERVED_INSERTION_GUARDS_REQUIRED"),
        (3, None, " other", "span_expected_text_mismatch", "OBSERVED_INSERTION_GUARDS_REQUIRED"),
        (3, None, None, "span_expected_text_mismatch", "OBSERVED_INSERTION_GUARDS_REQUIRED"),
        (3, "def", "other", "span_expected_text_mismatch", None),
        (3, "Def", " other", "span_expected_text_mismatch", None),
    ],
)
def test_insertions(client, admin, observed, place, before, after, reason, code):
    insertion = span(place, place, "", "+", expected_before=before, expected_after=after)
    arguments = batch(observed, pair(observed, other=insertion))
    if reason is not None:
        refused(client, admin, arguments, reason, code)
        usable(client, observed)
        return
    submit_accepted(client, arguments)
    expected = SOURCE.replace('return "one"', 'return "1"', 1)
    expected = expected.replace(OTHER, f"{OTHER[:place]}+{OTHER[place:]}")
    assert content_of(client, observed["target_file_id"]) == expected


@pytest.mark.req("BATCH-013")
def test_matches_count_in_their_scope_alone(client, admin, observed):
    # return, def and the parentheses stand in both scopes and elsewhere
    groups = pair(observed, match("return", "yield"), match("return", "yield"))
    submit_accepted(client, batch(observed, groups))
    expected = SOURCE.replace(FIRST, FIRST.replace("return", "yield"))
    expected = expected.replace(OTHER, OTHER.replace("return", "yield"))
    assert content_of(client, observed["target_file_id"]) == expected


@pytest.mark.req("BATCH-013")
@pytest.mark.parametrize(
    ("operations", "reason", "count"),
    [
        ([match("two", "x")], "match_absent", None),
        ([match("class", "x")], "match_absent", None),
        ([match("e", "x")], "match_ambiguous", 3),
        ([match("e", "x", occurrence_index=4)], "disambiguation_invalid", 3),
        ([match("def", "eee"), match("ee", "x")], "match_ambiguous", 2),
        ([match("one", "x"), match("one", "y")], "sequential_match_invalid", None),
    ],
)
def test_matches_that_fail_in_their_scope(client, admin, observed, operations, reason, count):
    text = FIRST
    assert text.count("e") == 3
    groups = [group(observed["scopes"][1], TWO), group(observed["scopes"][0], *operations)]
    answer = refused(client, admin, batch(observed, groups), reason)
    assert answer["diagnostic"].get("occurrence_count") == count
    assert answer["diagnostic"]["group_index"] == 1
    assert answer["failed_change_id"] == f"chg_{len(operations) + 1:03d}"
    for candidate in answer["diagnostic"].get("exact_candidates", {}).get("candidates", []):
        assert candidate["end"] <= len(FIRST) + 3
    usable(client, observed)


@pytest.mark.req("BATCH-013")
def test_selectors_count_after_the_group_s_earlier_operations(client, observed):
    operations = (match("one", "e one e"), match("e", "E", occurrence_index=3))
    submit_accepted(client, batch(observed, [group(observed["scopes"][0], *operations)]))
    changed = FIRST.replace("one", "e one e")
    place = [index for index, letter in enumerate(changed) if letter == "e"][2]
    changed = f"{changed[:place]}E{changed[place + 1 :]}"
    assert content_of(client, observed["target_file_id"]) == SOURCE.replace(FIRST, changed)


@pytest.mark.req("BATCH-014", "BATCH-018")
@pytest.mark.parametrize("turned", [False, True])
def test_groups_do_not_move_each_other(client, observed, turned):
    grow = span(3, 3, "", "\n\n\n" * 20, expected_before="def", expected_after=" first")
    groups = pair(observed, grow, local(OTHER, 4, 9, "b"))
    answer = submit_accepted(client, batch(observed, groups[::-1] if turned else groups))
    expected = SOURCE.replace("def first()", f"def{chr(10) * 60} first()", 1)
    expected = expected.replace("def other", "def b")
    assert content_of(client, observed["target_file_id"]) == expected
    facts = {fact["matched_chars"]: fact for fact in answer["evidence"]["changes"]}
    assert facts[5]["span_start"] == SOURCE.index("other")
    assert facts[0]["span_start"] == SOURCE.index("def first") + 3


@pytest.mark.req("BATCH-014")
def test_scopes_that_touch(client):
    target = source(client, "class A {}class B {}", "a.js")
    observed = bundle(client, target, "A", "B")
    groups = [
        group(observed["scopes"][0], span(0, 10, "class A {}", "")),
        group(observed["scopes"][1], span(0, 5, "class", "export class")),
    ]
    submit_accepted(client, batch(observed, groups))
    assert content_of(client, target) == "export class B {}"


@pytest.mark.req("BATCH-015", "BATCH-016")
@pytest.mark.parametrize("bad", [0, 1, 2])
def test_one_failing_group_fails_all(client, admin, bad):
    target = source(client)
    observed = bundle(client, target, ".first", "Box.first", "other")
    good = [match('"one"', "1"), match("one", "1"), TWO]
    groups = [
        group(scope, match("nowhere", "x") if place == bad else operation)
        for place, (scope, operation) in enumerate(zip(observed["scopes"], good, strict=True))
    ]
    before = state(client, target)
    answer = refused(client, admin, batch(observed, groups), "match_absent")
    assert state(client, target) == before
    assert set(users(admin, target).values()) == {None}
    assert len(rows(admin, target)) == 1
    assert answer["failed_change_id"] == f"chg_{bad + 1:03d}"


# ---- the parser's work, and what is said of graphemes


class Counting(Engine):
    """An engine that counts the texts that were parsed, not those that it still knew."""

    def __init__(self):
        super().__init__()
        self.parsed = 0

    def _parsed(self, language, text):
        self.parsed += 1
        return super()._parsed(language, text)


@pytest.mark.req("BATCH-022", "SCOPE-048")
def test_one_pass_for_all_scopes(database_url):
    names = [f"f{place}" for place in range(32)]
    text = "\n".join(function(name, 40) for name in names)
    with (
        psycopg.connect(database_url, autocommit=True) as connection,
        Counting() as observing,
        Counting() as submitting,
    ):
        caller = ServiceCaller(Service(connection, engine=observing))
        target = source(caller, text)
        observed = bundle(caller, target, *names)
        assert observing.parsed == 1
        groups = [group(scope, match('"x', '"y')) for scope in observed["scopes"]]
        other = ServiceCaller(Service(connection, engine=submitting))
        submit_accepted(other, batch(observed, groups))
        assert submitting.parsed == 1


def test_warnings_see_what_stands_beside_a_scope(client):
    script = "class A {}\u0301\nclass B {}"
    target = source(client, script, "a.js")
    observed = bundle(client, target, "A", "B")
    scope = observed["scopes"][0]
    if scope["scope_end"] != 10:
        pytest.skip("the parser puts the accent inside the scope")
    assert unicodedata.combining(script[10])
    groups = [group(scope, span(9, 10, "}", " }"))]
    answer = submit_accepted(client, batch(observed, groups))
    codes = [warning["code"] for warning in answer["warning_details"]]
    assert codes == ["grapheme_boundary_split"]


def test_a_batch_that_changes_nothing_warns(client, observed):
    groups = pair(observed, match("one", "one"), match("two", "two"))
    answer = submit_accepted(client, batch(observed, groups))
    assert [warning["code"] for warning in answer["warning_details"]] == [
        "no_op_change",
        "no_op_change",
        "no_op_transaction",
    ]
    assert answer["version"] == 1


@pytest.mark.parametrize("bad", ["\ud800", "a\0"], ids=ascii)
@pytest.mark.parametrize("place", ["bundle", "group", "operation", "field", "key"])
def test_invalid_text(client, admin, observed, bad, place):
    arguments = batch(observed, pair(observed))
    if place == "bundle":
        arguments["observation_bundle_id"] = bad
    elif place == "group":
        arguments["groups"][1]["observation_id"] = bad
    elif place == "operation":
        arguments["groups"][1]["operations"] = [{**TWO, "replace": bad}]
    elif place == "field":
        arguments["groups"][1][bad] = 1
    else:
        arguments["client_request_id"] = bad
    answer = submit_refused(client, admin, arguments, "target_encoding_invalid")
    row = row_of(admin, answer)
    assert row["protocol_version"] == "patchdiff-invalid-input/1"
    assert row["client_request_id"] is None
    usable(client, observed)


def test_an_unknown_target(client, admin, observed):
    before = row_counts(admin)
    arguments = batch(observed, pair(observed), target_file_id=UNKNOWN_ID)
    answer = client.call(SUBMIT, **arguments)
    assert answer["failure_reason"] == "target_not_found"
    assert row_counts(admin) == before


@pytest.mark.req("BATCH-027")
def test_the_index_of_single_links(client, admin, observed):
    target = observed["target_file_id"]
    answer = submit_accepted(client, batch(observed, pair(observed)))
    assert list(users(admin, target).values()) == [answer["pdcp_log_id"]] * 2
    target = source(client)
    chosen, spare = receipt(client, target), receipt(client, target)
    start = chosen["scope_start"]
    answer = submit_accepted(client, single(chosen, span(start, start + 3, "def", "def")))
    link = {"consumed_by_pdcp_log_id": answer["pdcp_log_id"], "consumed_at": "now"}
    with pytest.raises(psycopg.errors.UniqueViolation):
        alter_receipt(admin, spare["observation_id"], **link, consumption="single")
    alter_receipt(admin, spare["observation_id"], **link, consumption="batch")
