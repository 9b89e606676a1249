"""Values that break careless servers, in every argument of the two tools of observed scopes."""

from __future__ import annotations

import json

import pytest

from tests.support.documents import attempts, content_of, row_counts, state
from tests.support.observations import (
    OBSERVE,
    SOURCE,
    SUBMIT,
    batch,
    bundle,
    group,
    observe,
    receipt,
    single,
    source,
    submit_accepted,
    users,
)
from tests.support.proposals import match
from tests.test_hostile_arguments import HOSTILE, HUGE, INVALID_TEXTS, strings_of

ONE = match('return "one"', "return 1", occurrence_index=1)
LOCAL = match('"one"', "1")
# What a null and a text of two million characters lead to in observing.
STRINGS = {
    "target_file_id": ({"invalid_argument"}, {"invalid_argument"}),
    "query": ({"candidates"}, {"candidates"}),
    "symbol_name": ({"candidates"}, {"not_found"}),
    "kind": ({"candidates"}, {"candidates"}),
    "observation_id": ({"candidates"}, {"invalid_argument"}),
    "selections": ({"candidates"}, {"invalid_argument"}),
}


@pytest.fixture(scope="module")
def target(client):
    return source(client)


@pytest.mark.req("SCOPE-036", "SCOPE-037")
@pytest.mark.parametrize("argument", STRINGS)
def test_arguments_of_observing(client, admin, target, argument):
    before = row_counts(admin, target)
    for_null, for_huge = STRINGS[argument]
    for name, value in HOSTILE.items():
        result = client.call_tool(OBSERVE, {"target_file_id": target, argument: value})
        assert result.is_error is False, name
        expected = {"null": for_null, "huge": for_huge}.get(name, {"invalid_argument"})
        assert result.payload["status"] in expected, (name, result.text[:300])
        if result.payload["status"] != "candidates":
            assert len(result.text) < 4_000, name
    assert row_counts(admin, target) == before
    assert attempts(client, target) == []


@pytest.mark.req("SCOPE-049", "SCOPE-044")
@pytest.mark.parametrize("field", ["symbol_name", "kind", "\ud800", "x" * 100_000, "__proto__"])
def test_fields_of_a_selection(client, admin, target, field):
    before = row_counts(admin, target)
    for name, value in HOSTILE.items():
        chosen = [{"symbol_name": "other"}, {"symbol_name": "inner", field: value}]
        if (field, name) == ("kind", "null"):
            continue
        answer = observe(client, target, selections=chosen)
        assert answer["status"] in ("invalid_argument", "not_found"), name
        assert answer["selection_index"] == 1
        assert len(json.dumps(answer)) < 4_000
    assert row_counts(admin, target) == before


def calls(client, target):
    """A good call in each form, and where in it values are put."""
    observed = receipt(client, target)
    yield single(observed, ONE), [
        ("intent",), ("observation_id",), ("operations",), ("operations", 0), ("source",),
        ("operations", 0, "match"), ("operations", 0, "change_id"), ("expected_target_version",),
        ("expected_current_hash",), ("parent_pdcp_log_id",), ("attempt",), ("client_request_id",),
        ("observation_bundle_id",), ("groups",),
    ]  # fmt: skip
    observed = bundle(client, target, ".first", "other")
    yield batch(observed, [group(observed["scopes"][0], LOCAL)]), [
        ("intent",), ("observation_bundle_id",), ("groups",), ("groups", 0), ("client_request_id",),
        ("groups", 0, "observation_id"), ("groups", 0, "operations"),
        ("groups", 0, "operations", 0), ("groups", 0, "operations", 0, "replace"),
        ("groups", 0, "operations", 0, "risk"), ("observation_id",), ("operations",),
    ]  # fmt: skip


# values that are as good as none, or make another text: everything else is refused
HARMLESS = {
    ("intent", "huge"), ("source", "huge"), ("change_id", "null"), ("risk", "null"),
    ("parent_pdcp_log_id", "null"), ("attempt", "null"), ("attempt", "number"),
    ("replace", "huge"),
}  # fmt: skip
FORMS = {"observation_bundle_id", "groups", "observation_id", "operations"}


@pytest.mark.req("OBS-008", "OBS-017", "BATCH-003")
@pytest.mark.parametrize("form", [0, 1], ids=["single", "batch"])
def test_arguments_of_a_submission(client, admin, form):
    target = source(client)
    good, places = list(calls(client, target))[form]
    before, used = state(client, target), users(admin, target)
    for path in places:
        for name, value in HOSTILE.items():
            null_of_the_other_form = name == "null" and path[-1] in FORMS and path[-1] not in good
            null_key = (path, name, form) == (("client_request_id",), "null", 0)
            if (path[-1], name) in HARMLESS or null_of_the_other_form or null_key:
                continue
            call = json.loads(json.dumps(good))
            call["client_request_id"] = f"{path}{name}"[:128] if form else None
            place = call
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
            count = row_counts(admin, target)["append_only_pdcp_logs"]
            result = client.call_tool(SUBMIT, call)
            assert result.is_error is False, (path, name)
            assert result.payload["status"] == "rejected", (path, name, result.text[:300])
            assert row_counts(admin, target)["append_only_pdcp_logs"] == count + 1, (path, name)
            if name in INVALID_TEXTS:
                assert result.payload["failure_reason"] == "target_encoding_invalid", (path, name)
    assert state(client, target) == before
    assert users(admin, target) == used
    submit_accepted(client, good)


def test_what_a_hostile_value_leaves_in_the_record(client):
    target = source(client)
    observed = receipt(client, target)
    for value in INVALID_TEXTS.values():
        client.call(SUBMIT, **single(observed, ONE, observation_id=value))
        record = attempts(client, target, limit=1, include_content=True)[0]["pdcp_content"]
        evidence = json.loads(record)
        assert evidence["protocol"] == "patchdiff-invalid-input/1"
        assert value in strings_of(evidence)


@pytest.mark.parametrize("depth", [50, 900, 5_000])
def test_deep_nesting(client, depth):
    target = source(client)
    observed = receipt(client, target)
    nested = "[" * depth + "]" * depth
    for field in ("observation_id", "operations", "groups", "observation_bundle_id"):
        call = {**single(observed, ONE), field: "@"}
        arguments = json.dumps(call).replace('"@"', nested)
        line = (
            '{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":'
            f'{{"name":"{SUBMIT}","arguments":{arguments}}}}}'
        )
        client.send_line(line.encode())
        answer = json.loads(client.read_line())
        if "result" in answer:
            assert json.loads(answer["result"]["content"][0]["text"])["status"] == "rejected"
        else:
            assert answer["error"]["code"] == -32700
    assert content_of(client, target) == SOURCE
    submit_accepted(client, single(observed, ONE))


def test_two_million_characters_into_a_scope(client):
    target = source(client)
    observed = receipt(client, target)
    start = SOURCE.index('"one"')
    answer = submit_accepted(client, single(observed, {
        "op": "span", "start": start, "end": start + 5, "expected_text": '"one"',
        "replace": f'"{HUGE}"'}))  # fmt: skip
    assert answer["version"] == 1
    assert len(content_of(client, target)) == len(SOURCE) + len(HUGE) - 3
    # now too large to parse, and still editable as a whole
    assert observe(client, target)["code"] == "FILE_TOO_LARGE"
    again = receipt(client, target, "<document>", kind="document")
    submit_accepted(client, single(again, match(HUGE, "one")))
    assert content_of(client, target) == SOURCE
