"""Request keys of observed submissions: recovery and audited conflicts in both forms."""

from __future__ import annotations

import pytest

from tests.support.documents import UNKNOWN_ID, content_of, sha256
from tests.support.observations import (
    SOURCE,
    SUBMIT,
    batch,
    bundle,
    group,
    receipt,
    single,
    source,
    submit_accepted,
    submit_refused,
    users,
    whole,
)
from tests.support.proposals import match, row_of, rows, span

KEY = "k 1~"
ONE = SOURCE.index('"one"') + 1
EDIT = span(ONE, ONE + 3, "one", "1")
LOCAL = match('"one"', '"1"')


def in_single_form(client, target):
    """The arguments of a good keyed submission in single form, on the text as it is."""
    return single(receipt(client, target), EDIT, client_request_id=KEY)


def as_batch(client, target):
    """The same as a batch."""
    observed = bundle(client, target, ".first", "other")
    return batch(observed, [group(observed["scopes"][0], LOCAL)], KEY)


both_forms = pytest.mark.parametrize("form", [in_single_form, as_batch], ids=["single", "batch"])


def move_on(client, target):
    """Let somebody else change the text."""
    observed = whole(client, target)
    start = observed["scope_end"] - 1
    submit_accepted(client, single(observed, span(start, start + 1, "\n", "\n#\n")))


def conflicting(client, admin, arguments, components):
    answer = submit_refused(client, admin, arguments, "context_invalid", "request_key_conflict")
    diagnostic = answer["diagnostic"]
    assert diagnostic["differing_components"] == components
    assert diagnostic["validation_stage"] == "precondition_guard"
    assert row_of(admin, answer)["client_request_id"] is None
    return diagnostic


@both_forms
@pytest.mark.req("BATCH-020", "KEY-001", "KEY-003", "OBS-005")
@pytest.mark.parametrize("later", ["at once", "after an edit", "after a save"])
def test_an_acceptance_is_recovered(client, admin, form, later):
    target = source(client)
    arguments = form(client, target)
    first = submit_accepted(client, arguments)
    if later != "at once":
        move_on(client, target)
    if later == "after a save":
        assert client.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    known, used, text = rows(admin, target), users(admin, target), content_of(client, target)
    for _ in range(2):
        again = submit_accepted(client, arguments)
        assert again == {
            **first,
            "deduplicated": True,
            "current_version": 1 if later == "at once" else 2,
            "current_hash": sha256(text),
        }
        assert list(again) == list(first)
    assert first["deduplicated"] is False
    assert (rows(admin, target), users(admin, target)) == (known, used)


@both_forms
@pytest.mark.req("KEY-004")
@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        ("guard", "target_hash_mismatch"),
        ("receipt", "context_invalid"),
        ("operation", "span_out_of_bounds"),
        ("shape", "protocol_invalid"),
    ],
)
def test_a_rejection_is_recovered(client, admin, form, refusal, reason):
    target = source(client)
    arguments = form(client, target)
    operations = [span(0, 10**6, "x", "")] if refusal == "operation" else []
    if refusal == "guard":
        arguments["expected_current_hash"] = "0" * 64
    elif refusal == "receipt":
        name = "observation_id" if form is in_single_form else "observation_bundle_id"
        arguments[name] = UNKNOWN_ID
    elif form is in_single_form:
        arguments["operations"] = operations
    else:
        arguments["groups"][0]["operations"] = operations
    first = client.call(SUBMIT, **arguments)
    assert (first["status"], first["failure_reason"]) == ("rejected", reason)
    move_on(client, target)
    known = rows(admin, target)
    again = client.call(SUBMIT, **arguments)
    for name in ("status", "failure_reason", "failure_detail", "pdcp_log_id", "diagnostic"):
        assert again[name] == first[name]
    assert again["deduplicated"] is True
    assert rows(admin, target) == known
    assert first["pdcp_log_id"] not in users(admin, target).values()


@both_forms
@pytest.mark.req("BATCH-021")
def test_another_body_conflicts(client, admin, form):
    target = source(client)
    arguments = form(client, target)
    first = submit_accepted(client, arguments)
    other = {**arguments, "intent": "another"}
    diagnostic = conflicting(client, admin, other, ["pdcp_content_hash"])
    assert diagnostic["existing_pdcp_log_id"] == first["pdcp_log_id"]
    conflicting(
        client, admin, {**arguments, "expected_target_version": 1}, ["expected_target_version"]
    )
    submit_accepted(client, arguments)


@pytest.mark.req("BATCH-021")
def test_another_operation_group_or_bundle_of_a_batch_conflicts(client, admin):
    target = source(client)
    observed = bundle(client, target, ".first", "other")
    again = bundle(client, target, ".first", "other")
    first, other = observed["scopes"]
    groups = [group(first, LOCAL), group(other, match("two", "2"))]
    submit_accepted(client, batch(observed, groups, KEY))
    body = ["pdcp_content_hash"]
    for changed in (
        groups[:1],
        groups[::-1],
        [groups[0], group(other, match("two", "3"))],
        [groups[0], group(other, match("two", "2"), match("2", "2"))],
        [group(other, LOCAL), group(first, match("two", "2"))],
    ):
        conflicting(client, admin, batch(observed, changed, KEY), body)
    renewed = [group(scope, *each["operations"]) for scope, each in zip(
        again["scopes"], groups, strict=True)]  # fmt: skip
    conflicting(client, admin, batch(again, renewed, KEY), body)


def test_another_receipt_conflicts(client, admin):
    target = source(client)
    first, second = receipt(client, target), receipt(client, target)
    arguments = single(first, EDIT, client_request_id=KEY)
    rejected = submit_refused(
        client, admin, {**arguments, "expected_target_version": 5}, "target_version_mismatch"
    )
    other = {**arguments, "expected_target_version": 5, "observation_id": second["observation_id"]}
    diagnostic = conflicting(client, admin, other, ["observation_id"])
    assert diagnostic["existing_pdcp_log_id"] == rejected["pdcp_log_id"]
    conflicting(client, admin, {**other, "observation_id": None}, ["observation_id"])
    # with other guards both differ, and the members of the fingerprint are told
    conflicting(client, admin, {**other, "expected_target_version": 0}, ["expected_target_version"])


def test_an_unobserved_submission_of_the_same_record_is_another_request(client, admin):
    tool = "patchdiff_submit_operations"
    target = source(client)
    arguments = in_single_form(client, target)
    unobserved = {name: value for name, value in arguments.items() if name != "observation_id"}
    submit_accepted(client, arguments)
    answer = client.call(tool, **unobserved)
    assert answer["diagnostic"]["code"] == "request_key_conflict"
    assert answer["diagnostic"]["differing_components"] == ["observation_id"]
    target = source(client)
    arguments = in_single_form(client, target)
    unobserved = {name: value for name, value in arguments.items() if name != "observation_id"}
    assert client.call(tool, **unobserved)["status"] == "accepted"
    conflicting(client, admin, arguments, ["observation_id"])
    assert set(users(admin, target).values()) == {None}


def test_the_two_forms_are_two_requests(client, admin):
    target = source(client)
    arguments = as_batch(client, target)
    submit_accepted(client, in_single_form(client, target))
    conflicting(client, admin, arguments, ["protocol_version", "pdcp_content_hash"])


@both_forms
def test_a_key_is_of_one_target(client, form):
    for _ in range(2):
        assert submit_accepted(client, form(client, source(client)))["deduplicated"] is False


@both_forms
def test_correlation_ids_and_sources_are_no_part_of_the_request(client, form):
    arguments = form(client, source(client))
    first = submit_accepted(client, {**arguments, "include_correlation_id": True})
    again = submit_accepted(
        client, {**arguments, "include_correlation_id": True, "source": "x", "attempt": 3}
    )
    assert again["deduplicated"] is True
    assert again["correlation_id"] != first["correlation_id"]
