"""Observed submissions in single form: what they need, how receipts are judged and used, what is
recorded."""

from __future__ import annotations

import json

import pytest

from patchdiff import Service
from patchdiff.structure.engine import Engine, StructureError
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    content_of,
    document,
    overwrite,
    row_counts,
    sha256,
)
from tests.support.observations import (
    FIRST,
    OTHER,
    SOURCE,
    SUBMIT,
    alter_receipt,
    bundle,
    function,
    receipt,
    receipts,
    single,
    source,
    submit_accepted,
    submit_refused,
    users,
    whole,
)
from tests.support.proposals import fingerprint, match, row_of, span

ONE = SOURCE.index('"one"') + 1
EDIT = span(ONE, ONE + 3, "one", "1")
EDITED = SOURCE.replace('return "one"', 'return "1"')


@pytest.fixture
def observed(client):
    """A receipt of the function first of a new target."""
    return receipt(client, source(client))


def leave_out(arguments, *names):
    return {name: value for name, value in arguments.items() if name not in names}


def usable(client, observed):
    """The receipt can still be used, and is."""
    answer = submit_accepted(client, single(observed, EDIT))
    assert content_of(client, observed["target_file_id"]) == EDITED
    return answer


@pytest.mark.req("OBS-001", "OBS-018", "OBS-020", "OBS-023", "OBS-006")
def test_an_accepted_submission(client, admin, observed):
    target = observed["target_file_id"]
    before = row_counts(admin, target)
    answer = submit_accepted(client, single(observed, EDIT))
    assert answer["observation_id"] == observed["observation_id"]
    assert (answer["version"], answer["after_hash"]) == (1, sha256(EDITED))
    assert answer["before_hash"] == sha256(SOURCE)
    assert content_of(client, target) == EDITED
    assert "groups" not in answer
    assert row_counts(admin, target) == {
        **before,
        "append_only_pdcp_logs": 1,
        "manifest_ledger": 1,
    }
    [fact] = answer["evidence"]["changes"]
    assert (fact["span_start"], fact["span_end"], fact["operation"]) == (ONE, ONE + 3, "span")
    row = row_of(admin, answer)
    assert (row["status"], row["protocol_version"]) == ("accepted", "patchdiff-tx/2")
    assert row["observation_id"] == observed["observation_id"]
    record = {"protocol": "patchdiff-tx/2", "intent": "t", "operations": [EDIT]}
    assert json.loads(row["pdcp_content"]) == record
    assert row["request_fingerprint"] == fingerprint(
        "patchdiff-tx/2", sha256(row["pdcp_content"]), 0, sha256(SOURCE)
    )
    [used] = receipts(admin, target)
    assert used["consumed_by_pdcp_log_id"] == answer["pdcp_log_id"]
    assert used["consumed_at"] is not None
    assert used["consumption"] == "single"


@pytest.mark.req("OBS-006")
@pytest.mark.parametrize(
    ("operation", "runtime"),
    [
        (EDIT, "patchdiff-mvp-0.3.0"),
        (match('return "one"', "return 1"), "patchdiff-mvp-0.3.0"),
        ({**EDIT, "expected_before": '"'}, "patchdiff-mvp-0.5.0"),
        ({**EDIT, "expected_after": '"'}, "patchdiff-mvp-0.5.0"),
        ({**EDIT, "expected_after": None}, "patchdiff-mvp-0.5.0"),
    ],
)
def test_the_runtime(client, admin, observed, operation, runtime):
    target = observed["target_file_id"]
    if operation["op"] == "match":
        chosen = whole(client, document(client, FIRST)["target_file_id"])
        answer = submit_accepted(client, single(chosen, operation))
    else:
        answer = submit_accepted(client, single(observed, operation))
        assert target == answer["target_file_id"]
    row = row_of(admin, answer)
    assert (row["protocol_version"], row["runtime_version"]) == ("patchdiff-tx/2", runtime)


# ---- what the form needs


@pytest.mark.req("OBS-001", "OBS-002")
@pytest.mark.parametrize("names", [["expected_target_version"], ["expected_current_hash"], [
    "expected_target_version", "expected_current_hash"]], ids=str)  # fmt: skip
@pytest.mark.parametrize("null", [False, True], ids=["missing", "null"])
def test_both_guards(client, admin, observed, names, null):
    arguments = leave_out(single(observed, EDIT), *names)
    arguments |= dict.fromkeys(names) if null else {}
    answer = submit_refused(client, admin, arguments, "context_invalid", "guard_required")
    assert "both" in answer["failure_detail"]
    usable(client, observed)


@pytest.mark.req("OBS-002")
@pytest.mark.parametrize(
    ("name", "value", "reason", "code"),
    [
        ("expected_target_version", 1, "target_version_mismatch", None),
        ("expected_target_version", -1, "context_invalid", "invalid_expected_target_version"),
        ("expected_target_version", True, "context_invalid", "invalid_expected_target_version"),
        ("expected_target_version", "0", "context_invalid", "invalid_expected_target_version"),
        ("expected_current_hash", "0" * 64, "target_hash_mismatch", None),
        ("expected_current_hash", "x", "context_invalid", "invalid_expected_current_hash"),
        ("expected_current_hash", 7, "context_invalid", "invalid_expected_current_hash"),
    ],
)
def test_guards_that_do_not_fit(client, admin, observed, name, value, reason, code):
    submit_refused(client, admin, single(observed, EDIT, **{name: value}), reason, code)
    usable(client, observed)


@pytest.mark.req("OBS-001")
def test_target_and_intent_are_the_only_names_that_must_be_there(client, observed):
    for name in ("target_file_id", "intent"):
        result = client.call_tool(SUBMIT, leave_out(single(observed, EDIT), name))
        assert result.is_error is True
        assert result.payload["missing_arguments"] == [name]


@pytest.mark.req("OBS-003", "OBS-004", "OBS-001")
@pytest.mark.parametrize(
    ("arguments", "omitted"),
    [
        ({"intent": ""}, ()),
        ({"intent": "   "}, ()),
        ({"intent": "\t\n\u2003"}, ()),
        ({"intent": None}, ()),
        ({"intent": 7}, ()),
        ({"operations": []}, ()),
        ({"operations": None}, ()),
        ({}, ("operations",)),
        ({"operations": {}}, ()),
        ({"operations": "x"}, ()),
        ({"operations": [7]}, ()),
        ({"operations": [{**EDIT, "op": "replace"}]}, ()),
        ({"operations": [{**EDIT, "extra": 1}]}, ()),
        ({"operations": [{**EDIT, "start": 1.0}]}, ()),
        ({"operations": [{**EDIT, "expected_before": ""}]}, ()),
        ({"operations": [EDIT, {**EDIT, "change_id": "chg_001"}]}, ()),
    ],
    ids=str,
)
def test_the_shape(client, admin, observed, arguments, omitted):
    call = leave_out(single(observed, EDIT, **arguments), *omitted)
    answer = submit_refused(client, admin, call, "protocol_invalid")
    assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
    usable(client, observed)


@pytest.mark.req("OBS-005")
def test_the_optional_arguments(client, admin, observed):
    submit_refused(client, admin, single(observed, EDIT, source=None), "context_invalid",
                   "invalid_source")  # fmt: skip
    submit_refused(client, admin, single(observed, EDIT, attempt=0), "context_invalid",
                   "invalid_attempt")  # fmt: skip
    unknown = single(observed, EDIT, parent_pdcp_log_id=UNKNOWN_ID)
    submit_refused(client, admin, unknown, "context_invalid", "invalid_parent")
    bad_key = single(observed, EDIT, client_request_id="\n")
    submit_refused(client, admin, bad_key, "context_invalid", "invalid_client_request_id")
    wrong = single(observed, span(ONE, ONE + 3, "two", "2"))
    parent = submit_refused(client, admin, wrong, "span_expected_text_mismatch")["pdcp_log_id"]
    answer = submit_accepted(
        client,
        single(
            observed, EDIT, source="a test", parent_pdcp_log_id=parent, attempt=2,
            client_request_id="k", include_correlation_id=True,
        ),
    )  # fmt: skip
    assert answer["client_request_id"] == "k"
    assert len(answer["correlation_id"]) == 36
    row = row_of(admin, answer)
    assert (row["source"], row["parent_pdcp_log_id"], row["regeneration_attempt"]) == (
        "a test",
        parent,
        2,
    )
    assert row["client_request_id"] == "k"


@pytest.mark.req("OBS-005")
def test_defaults_are_those_of_the_other_submissions(client, admin, observed):
    answer = submit_accepted(client, single(observed, EDIT))
    row = row_of(admin, answer)
    assert row["source"] == "model_response"
    assert row["parent_pdcp_log_id"] is None
    assert row["regeneration_attempt"] is None
    assert answer["client_request_id"] is None
    assert "correlation_id" not in answer


def test_an_unknown_target(client, admin, observed):
    before = row_counts(admin)
    for target, reason in ((UNKNOWN_ID, "target_not_found"), ("x", "invalid_target_id"),
                           (None, "invalid_target_id"), (7, "invalid_target_id")):  # fmt: skip
        answer = client.call(SUBMIT, **single(observed, EDIT, target_file_id=target))
        assert (answer["status"], answer["failure_reason"]) == ("rejected", reason)
        assert answer["pdcp_log_id"] is None
    assert row_counts(admin) == before
    usable(client, observed)


# ---- receipts, a test for each code


@pytest.mark.req("OBS-007", "OBS-016", "OBS-017")
@pytest.mark.parametrize("null", [False, True], ids=["missing", "null"])
def test_no_receipt(client, admin, observed, null):
    arguments = leave_out(single(observed, EDIT), "observation_id")
    arguments |= {"observation_id": None} if null else {}
    answer = submit_refused(client, admin, arguments, "context_invalid", "OBSERVATION_REQUIRED")
    assert answer["diagnostic"]["validation_stage"] == "precondition_guard"
    usable(client, observed)


@pytest.mark.req("OBS-008", "OBS-016", "OBS-017")
@pytest.mark.parametrize(
    "malform",
    [
        str.upper,
        lambda identifier: identifier.replace("-", ""),
        lambda identifier: identifier + "\n",
        lambda identifier: " " + identifier,
        lambda identifier: identifier[:-1],
        lambda identifier: f"{{{identifier}}}",
        lambda _: "",
        lambda _: "x" * 5_000,
        lambda _: 7,
        lambda _: False,
        lambda _: [],
        lambda _: {"a": 1},
    ],
)
def test_a_malformed_receipt(client, admin, observed, malform):
    malformed = malform(observed["observation_id"])
    arguments = single(observed, EDIT, observation_id=malformed)
    submit_refused(client, admin, arguments, "context_invalid", "INVALID_OBSERVATION_ID")
    usable(client, observed)


@pytest.mark.req("OBS-009", "OBS-016", "OBS-017")
def test_an_unknown_receipt(client, admin, observed):
    arguments = single(observed, EDIT, observation_id=UNKNOWN_ID)
    answer = submit_refused(client, admin, arguments, "context_invalid", "UNKNOWN_OBSERVATION_ID")
    assert row_of(admin, answer)["observation_id"] == UNKNOWN_ID
    usable(client, observed)


@pytest.mark.req("OBS-010", "OBS-016", "OBS-017")
def test_a_receipt_of_another_target(client, admin, observed):
    other = receipt(client, source(client))
    for foreign in (
        other["observation_id"],
        bundle(client, source(client), "other")["observation_bundle_id"],
    ):
        arguments = single(observed, EDIT, observation_id=foreign)
        answer = submit_refused(
            client, admin, arguments, "context_invalid", "OBSERVATION_TARGET_MISMATCH"
        )
        assert other["target_file_id"] not in json.dumps(answer)
    usable(client, observed)
    usable(client, other)


@pytest.mark.req("OBS-011", "OBS-016", "OBS-017")
def test_a_receipt_of_a_closed_cycle(client, admin, observed):
    target = observed["target_file_id"]
    assert client.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    arguments = single(observed, EDIT)
    submit_refused(client, admin, arguments, "context_invalid", "OBSERVATION_CYCLE_MISMATCH")
    usable(client, receipt(client, target))


@pytest.mark.req("OBS-012", "OBS-018", "OBS-016", "OBS-017")
def test_a_consumed_receipt(client, admin, observed):
    submit_accepted(client, single(observed, EDIT))
    target = observed["target_file_id"]
    now = {"expected_target_version": 1, "expected_current_hash": sha256(EDITED)}
    for arguments in (
        single(observed, EDIT),
        single(observed, span(ONE, ONE + 1, "1", "2"), **now),
    ):
        submit_refused(client, admin, arguments, "context_invalid", "OBSERVATION_ALREADY_CONSUMED")
    assert client.call("patchdiff_save", target_file_id=target)["status"] == "saved"
    submit_refused(client, admin, arguments, "context_invalid", "OBSERVATION_ALREADY_CONSUMED")


@pytest.mark.req("OBS-013", "OBS-016", "OBS-017")
def test_a_receipt_of_an_older_version(client, admin, observed):
    target = observed["target_file_id"]
    other = receipt(client, target, "other")
    start = other["scope_start"]
    submit_accepted(client, single(other, span(start, start + 3, "def", "def")))
    now = {"expected_target_version": 1, "expected_current_hash": sha256(SOURCE)}
    for guards in ({}, now):
        arguments = single(observed, EDIT, **guards)
        submit_refused(client, admin, arguments, "context_invalid", "STALE_OBSERVATION_VERSION")
    assert list(users(admin, target).values()).count(None) == 1
    usable_again = single(receipt(client, target), EDIT)
    submit_accepted(client, usable_again)


@pytest.mark.req("OBS-014", "OBS-016", "OBS-017")
def test_a_receipt_of_another_hash(client, admin, observed):
    identifier = observed["observation_id"]
    alter_receipt(admin, identifier, target_current_hash="0" * 64)
    arguments = single(observed, EDIT)
    submit_refused(client, admin, arguments, "context_invalid", "STALE_OBSERVATION_HASH")
    alter_receipt(admin, identifier, target_current_hash=sha256(SOURCE))
    usable(client, observed)


@pytest.mark.req("SCOPE-051", "OBS-016", "OBS-017")
def test_a_receipt_of_another_engine(client, admin, observed):
    identifier = observed["observation_id"]
    alter_receipt(admin, identifier, engine="patchdiff-symbols@1+000000000000")
    arguments = single(observed, EDIT)
    submit_refused(client, admin, arguments, "context_invalid", "STALE_OBSERVATION_ENGINE")
    alter_receipt(admin, identifier, engine=observed["engine"])
    usable(client, observed)


@pytest.mark.req("OBS-016", "OBS-017")
@pytest.mark.parametrize(
    "columns",
    [
        {"symbol_name": "second"},
        {"symbol_kind": "method"},
        {"scope_start": 0},
        {"scope_end": len(SOURCE)},
        {"symbol_name": "<document>", "symbol_kind": "document"},
    ],
    ids=str,
)
def test_a_receipt_whose_scope_is_no_symbol(client, admin, observed, columns):
    alter_receipt(admin, observed["observation_id"], **columns)
    arguments = single(observed, EDIT)
    submit_refused(client, admin, arguments, "context_invalid", "STALE_OBSERVATION_SCOPE")


@pytest.mark.req("OBS-016", "OBS-017")
def test_a_scope_that_cannot_be_verified(admin):
    text = "".join(f"def f{place}():\n    return [1, 2, (3, 4)]\n" for place in range(20_000))
    with Engine() as engine, Engine(pass_seconds=0.1) as slow:
        caller = ServiceCaller(Service(admin, engine=engine))
        target = source(caller, text)
        observed, document_too = receipt(caller, target, "f1"), whole(caller, target)
        start = observed["scope_start"]
        hurried = ServiceCaller(Service(admin, engine=slow))
        arguments = single(observed, span(start, start + 3, "def", "def"))
        submit_refused(hurried, admin, arguments, "context_invalid", "STRUCTURE_TIMEOUT")
        # the whole text needs no parser
        submit_accepted(hurried, single(document_too, span(0, 3, "def", "def")))


def test_a_missing_engine_is_told_and_audited(admin, client):
    class Missing(Engine):
        def identity(self):
            raise StructureError("STRUCTURE_UNAVAILABLE", "the package x is not installed")

    target = source(client)
    observed = receipt(client, target)
    caller = ServiceCaller(Service(admin, engine=Missing()))
    answer = caller.call("patchdiff_observe_scope", target_file_id=target, symbol_name="other")
    assert (answer["status"], answer["code"]) == ("failed", "STRUCTURE_UNAVAILABLE")
    arguments = single(observed, EDIT)
    submit_refused(caller, admin, arguments, "context_invalid", "STALE_OBSERVATION_ENGINE")
    usable(client, observed)


# ---- the order of judgement


def test_what_is_judged_first(client, admin, observed):
    target = observed["target_file_id"]
    unknown = {"observation_id": UNKNOWN_ID}
    stale = {"expected_target_version": 9}
    for arguments, reason, code in (
        (unknown | stale, "context_invalid", "UNKNOWN_OBSERVATION_ID"),
        (unknown | {"intent": " "}, "protocol_invalid", None),
        (unknown | {"operations": []}, "protocol_invalid", None),
        (unknown | {"expected_target_version": None}, "context_invalid", "guard_required"),
        (unknown | {"attempt": 0, "intent": " "}, "context_invalid", "invalid_attempt"),
        (unknown | {"client_request_id": "", "attempt": 0}, "context_invalid",
         "invalid_client_request_id"),
        (stale | {"operations": [span(0, 1, "x", "")]}, "target_version_mismatch", None),
        (stale | {"expected_current_hash": "0" * 64}, "target_version_mismatch", None),
    ):  # fmt: skip
        submit_refused(client, admin, single(observed, EDIT, **arguments), reason, code)
    overwrite(admin, target, current_content=SOURCE + "#")
    answer = client.call(SUBMIT, **single(observed, EDIT, **unknown))
    assert answer["failure_reason"] == "target_diverged"
    overwrite(admin, target, current_content=SOURCE)
    usable(client, observed)


@pytest.mark.parametrize("bad", ["\ud800", "a\0"], ids=ascii)
@pytest.mark.parametrize("place", ["intent", "observation_id", "operations", "source", "key"])
def test_invalid_text_comes_first(client, admin, observed, bad, place):
    arguments = {
        "intent": {"intent": bad},
        "observation_id": {"observation_id": bad},
        "operations": {"operations": [{**EDIT, "replace": bad}]},
        "source": {"source": bad},
        "key": {"client_request_id": bad},
    }[place]
    call = single(observed, EDIT, **{"expected_target_version": None, **arguments})
    answer = submit_refused(client, admin, call, "target_encoding_invalid")
    row = row_of(admin, answer)
    assert row["protocol_version"] == "patchdiff-invalid-input/1"
    assert ascii(bad).strip("'").replace("\\x00", "\\u0000") in row["pdcp_content"]
    usable(client, observed)


# ---- what becomes of receipts


@pytest.mark.req("OBS-019")
def test_a_rejection_leaves_the_receipt(client, admin, observed):
    for operation, reason in (
        (span(ONE, ONE + 3, "two", "1"), "span_expected_text_mismatch"),
        (match("nowhere", "x"), "match_absent"),
        (match("return", "x"), "match_ambiguous"),
        (span(ONE, 9_999, "one", "1"), "span_out_of_bounds"),
    ):
        code = "OPERATION_OUTSIDE_OBSERVED_SCOPE" if reason == "span_out_of_bounds" else None
        submit_refused(client, admin, single(observed, operation), reason, code)
    assert usable(client, observed)["version"] == 1


@pytest.mark.req("OBS-021")
def test_a_bundle_s_receipts_one_by_one(client, admin):
    target = source(client)
    first, other = bundle(client, target, ".first", "other")["scopes"]
    observed = {
        "target_file_id": target,
        "target_version": 0,
        "target_current_hash": sha256(SOURCE),
        "observation_id": first["observation_id"],
    }
    answer = usable(client, observed)
    assert row_of(admin, answer)["protocol_version"] == "patchdiff-tx/2"
    assert users(admin, target) == {
        first["observation_id"]: answer["pdcp_log_id"],
        other["observation_id"]: None,
    }


def test_a_bundle_s_id_is_no_receipt(client, admin):
    target = source(client)
    observed = bundle(client, target, ".first")
    arguments = single({**observed, "observation_id": observed["observation_bundle_id"]}, EDIT)
    submit_refused(client, admin, arguments, "context_invalid", "UNKNOWN_OBSERVATION_ID")


def test_several_operations_use_one_receipt(client, admin, observed):
    target = observed["target_file_id"]
    answer = submit_accepted(
        client, single(observed, EDIT, match("def first():", "def first(x):"),
                       span(SOURCE.index("def first()"), SOURCE.index("def first()") + 3, "def",
                            "async def")),
    )  # fmt: skip
    expected = SOURCE.replace(FIRST, 'async def first(x):\n    return "1"')
    assert content_of(client, target) == expected
    assert answer["manifest_entries_added"] == 3
    assert list(users(admin, target).values()) == [answer["pdcp_log_id"]]


def test_the_service_answers_as_the_tool_does(client, service):
    answers = []
    for caller in (client, ServiceCaller(service)):
        observed = receipt(caller, source(caller))
        answers += [
            (caller.call(SUBMIT, **single(observed, match("nowhere", "x"))), observed),
            (submit_accepted(caller, single(observed, EDIT)), observed),
        ]
    for (answer, _), (other, _) in zip(answers[:2], answers[2:], strict=True):
        assert list(answer) == list(other)
        assert answer["status"] == other["status"]


def test_an_observed_attempt_in_the_caller_s_transaction(plain_connection, admin, service):
    target = source(ServiceCaller(service))
    caller = ServiceCaller(Service(plain_connection))
    observed = receipt(caller, target)
    plain_connection.execute("select 1")
    submit_accepted(caller, single(observed, EDIT))
    assert users(admin, target) == {observed["observation_id"]: None}
    plain_connection.rollback()
    assert content_of(caller, target) == SOURCE
    submit_accepted(caller, single(observed, EDIT))
    assert None not in users(admin, target).values()


def test_a_large_scope_is_edited_anywhere(client):
    text = f"{function('a', 30_000)}\n\n{OTHER}\n"
    target = source(client, text)
    observed = receipt(client, target, "a")
    answer = submit_accepted(client, single(observed, span(29_998, 29_999, "x", "\U0001f600")))
    assert answer["after_hash"] == sha256(text[:29_998] + "\U0001f600" + text[29_999:])
