"""What every submission shares: guards, order of judgement, answers, and one row per attempt."""

from __future__ import annotations

import uuid

import pytest

from tests.support.documents import (
    UNKNOWN_ID,
    UUID_PATTERN,
    accepted,
    attempts,
    change,
    content_of,
    document,
    keys,
    overwrite,
    rejected,
    row_counts,
    sha256,
    stored,
    submit,
)

TEXT = "alpha beta alpha\n"
HASH = sha256(TEXT)
BETA = change("beta", "b")
MATCH = "transaction_applicability"
GUARD = "precondition_guard"
PROTOCOL = "protocol_validation"


@pytest.fixture
def target(client):
    return document(client, "alpha beta alpha\r\n")["target_file_id"]


def context_invalid(client, target, code=None, **arguments):
    answer = rejected(client, target, BETA, reason="context_invalid", code=code, **arguments)
    assert answer["diagnostic"]["validation_stage"] == PROTOCOL
    assert answer["diagnostic"]["retryable"] is False
    return answer


@pytest.mark.req("SUBM-001", "SUBM-008")
def test_a_guard_is_required(client, target):
    calls = [{}, {"expected_target_version": None}, {"expected_current_hash": None}]
    for guards in [*calls, {**calls[1], **calls[2]}]:
        call = {"target_file_id": target, "intent": "t", "edits": [BETA], **guards}
        answer = client.call("patchdiff_submit_edits", **call)
        assert (answer["status"], answer["failure_reason"]) == ("rejected", "context_invalid")
        assert answer["diagnostic"]["code"] == "guard_required"
        assert answer["diagnostic"]["validation_stage"] == PROTOCOL
    assert len(attempts(client, target, status="rejected")) == 4
    assert content_of(client, target) == TEXT


@pytest.mark.req("SUBM-002", "SUBM-003", "SUBM-004")
@pytest.mark.parametrize(
    "guards",
    [
        {"expected_target_version": 0},
        {"expected_current_hash": HASH},
        {"expected_target_version": 0, "expected_current_hash": HASH},
        {"expected_target_version": 0, "expected_current_hash": None},
        {"expected_target_version": None, "expected_current_hash": HASH},
    ],
)
def test_a_right_guard_admits(client, target, guards):
    accepted(client, target, BETA, **guards)
    assert content_of(client, target) == "alpha b alpha\n"


@pytest.mark.req("SUBM-004", "SUBM-005", "SUBM-006", "SUBM-007", "SUBM-009", "SUBM-011")
@pytest.mark.parametrize(
    ("version", "digest", "reason"),
    [
        (1, None, "target_version_mismatch"),
        (2**63 - 1, None, "target_version_mismatch"),
        (None, sha256("other"), "target_hash_mismatch"),
        (0, sha256("other"), "target_hash_mismatch"),
        (1, HASH, "target_version_mismatch"),
        (1, sha256("other"), "target_version_mismatch"),
    ],
)
def test_a_stale_guard_rejects(client, target, version, digest, reason):
    guards = {"expected_target_version": version, "expected_current_hash": digest}
    answer = rejected(client, target, BETA, reason=reason, **guards)
    assert answer["diagnostic"]["validation_stage"] == GUARD
    assert answer["diagnostic"]["retryable"] is True
    assert answer["failed_change_id"] is None


@pytest.mark.req("SUBM-005", "SUBM-006")
def test_a_guard_of_the_version_before_is_stale(client, target):
    answer = accepted(client, target, BETA)
    rejected(client, target, change("b", "c", occurrence_index=2), reason="target_version_mismatch")
    rejected(client, target, BETA, reason="target_hash_mismatch", expected_current_hash=HASH)
    accepted(client, target, change(" b ", " c "), expected_current_hash=answer["after_hash"])


@pytest.mark.req("SUBM-008", "SUBM-010", "SUBM-011")
@pytest.mark.parametrize(
    "version",
    [-1, 2**63, -(2**63) - 1, 10**40, True, False, "0", "1", "", 0.0, 1.0, 0.5, [], [0], {}],
)
def test_a_malformed_version_guard(client, target, version):
    context_invalid(client, target, expected_target_version=version)
    context_invalid(client, target, expected_target_version=version, expected_current_hash=HASH)


@pytest.mark.req("SUBM-008", "SUBM-012")
@pytest.mark.parametrize(
    "digest",
    [
        HASH[:-1],
        HASH + "0",
        HASH.upper(),
        HASH[:-1] + "g",
        HASH + "\n",
        " " + HASH,
        HASH[:8],
        "",
        "\uff10" * 64,
        5,
        0,
        True,
        [HASH],
        {},
    ],
)
def test_a_malformed_hash_guard(client, target, digest):
    context_invalid(client, target, expected_current_hash=digest)
    context_invalid(client, target, expected_current_hash=digest, expected_target_version=0)


# Each: edits, further arguments, reason, stage, whether a fresh read can help, the change at fault.
REJECTIONS = {
    "no guard": (
        [BETA],
        {"expected_target_version": None},
        "context_invalid",
        PROTOCOL,
        False,
        None,
    ),
    "bad guard": (
        [BETA],
        {"expected_target_version": -1},
        "context_invalid",
        PROTOCOL,
        False,
        None,
    ),
    "bad source": ([BETA], {"source": 5}, "context_invalid", PROTOCOL, False, None),
    "bad intent": ([BETA], {"intent": 5}, "protocol_invalid", PROTOCOL, False, None),
    "no edits": ([], {}, "protocol_invalid", PROTOCOL, False, None),
    "invalid text": (
        [BETA],
        {"intent": "\ud800"},
        "target_encoding_invalid",
        PROTOCOL,
        False,
        None,
    ),
    "stale version": (
        [BETA],
        {"expected_target_version": 1},
        "target_version_mismatch",
        GUARD,
        True,
        None,
    ),
    "stale hash": (
        [BETA],
        {"expected_current_hash": "0" * 64},
        "target_hash_mismatch",
        GUARD,
        True,
        None,
    ),
    "absent": ([change("gamma", "x")], {}, "match_absent", MATCH, True, "chg_001"),
    "ambiguous": ([change("alpha", "x")], {}, "match_ambiguous", MATCH, True, "chg_001"),
    "third of two": (
        [change("alpha", "x", occurrence_index=3)],
        {},
        "disambiguation_invalid",
        MATCH,
        True,
        "chg_001",
    ),
    "consumed": (
        [BETA, change("beta", "x")],
        {},
        "sequential_match_invalid",
        MATCH,
        True,
        "chg_002",
    ),
    "second absent": (
        [BETA, change("gamma", "x", change_id="k")],
        {},
        "match_absent",
        MATCH,
        True,
        "k",
    ),
}


@pytest.mark.req(
    "SUBM-007", "SUBM-008", "SUBM-013", "SUBM-014", "SUBM-020", "SUBM-021", "SUBM-022", "SUBM-040",
    "SUBM-041", "SUBM-044", "SUBM-046", "SUBM-047", "SUBM-048", "SUBM-049", "SUBM-050", "SUBM-051",
)  # fmt: skip
@pytest.mark.parametrize("name", REJECTIONS)
def test_what_every_rejection_is(client, target, name):
    edits, arguments, reason, stage, retryable, failed_change_id = REJECTIONS[name]
    first = rejected(client, target, *edits, reason=reason, **arguments)
    second = rejected(client, target, *edits, reason=reason, **arguments)
    assert first["pdcp_log_id"] != second["pdcp_log_id"]
    for answer in (first, second):
        assert UUID_PATTERN.fullmatch(answer["pdcp_log_id"])
        assert next(iter(answer)) == "status"
        assert (answer["target_file_id"], answer["current_version"]) == (target, 0)
        assert answer["before_hash"] == answer["current_hash"] == HASH
        assert isinstance(answer["failure_detail"], str)
        assert answer["failure_detail"]
        assert answer["failed_change_id"] == failed_change_id
        assert not keys(answer) & {
            "evidence",
            "version",
            "manifest_entries_added",
            "warnings",
            "correlation_id",
        }
        assert (answer["deduplicated"], answer["client_request_id"]) == (False, None)
        assert keys(answer["validity"]) == {
            "protocol_valid",
            "transaction_valid",
            "task_correct",
            "semantic",
        }
        assert answer["validity"]["transaction_valid"] is False
        assert (
            answer["validity"]["task_correct"] == answer["validity"]["semantic"] == "not_evaluated"
        )
        if stage == MATCH:
            assert answer["validity"]["protocol_valid"] is True
        if reason == "protocol_invalid":
            assert answer["validity"]["protocol_valid"] is False
        diagnostic = answer["diagnostic"]
        assert (diagnostic["format"], diagnostic["validation_stage"]) == ("patchdiff-tx/1", stage)
        assert diagnostic["retryable"] is retryable
    accepted(client, target, BETA)


@pytest.mark.req("SUBM-014")
@pytest.mark.parametrize(
    "arguments",
    [
        {"intent": None},
        {"edits": []},
        {"edits": None},
        {"edits": [change("beta", "x", change_id="a b")]},
        {"edits": [change("beta", "x", change_id="k"), change("alpha", "x", change_id="k")]},
    ],
)
def test_a_malformed_proposal_is_protocol_invalid(client, target, arguments):
    rejected(client, target, BETA, reason="protocol_invalid", **arguments)


@pytest.mark.req("SUBM-015")
@pytest.mark.parametrize("column", ["current_content", "current_hash"])
@pytest.mark.parametrize("text", [TEXT, "ALPHA BETA"])
def test_a_diverged_target_rejects_every_submission(client, admin, column, text):
    target = document(client, text)["target_file_id"]
    if text != TEXT:
        # the server has this target's text in hand when storage changes behind its back
        accepted(client, target, change(text, TEXT))
    version = 0 if text == TEXT else 1
    value = {"current_content": "alpha beta alphA\n", "current_hash": sha256("other")}[column]
    overwrite(admin, target, **{column: value})
    stored_hash = client.call("patchdiff_get_target", target_file_id=target)["current_hash"]
    for edit in (BETA, change("absent", "x"), change("beta", "beta")):
        for guards in (
            {"expected_target_version": version},
            {"expected_current_hash": stored_hash},
            {"expected_target_version": version, "expected_current_hash": stored_hash},
            {"expected_target_version": 7},
            {"expected_target_version": version, "client_request_id": str(uuid.uuid4())},
        ):
            answer = rejected(client, target, edit, reason="target_diverged", **guards)
            assert answer["diagnostic"]["retryable"] is True
    assert stored(admin, target, column) == (value,)


@pytest.mark.req("SUBM-016")
@pytest.mark.parametrize("source", [5, 0, 1.5, True, None, ["model_response"], {}])
def test_a_bad_source(client, target, source):
    context_invalid(client, target, source=source)


@pytest.mark.req("SUBM-017")
def test_source_is_recorded(client, admin, target):
    expected = {}
    answer = accepted(client, target, BETA)
    expected[answer["pdcp_log_id"]] = "model_response"
    answer = submit(client, target, BETA, source="human \u4e2d")
    expected[answer["pdcp_log_id"]] = "human \u4e2d"
    answer = submit(client, target, change("absent", "x"), expected_target_version=1)
    expected[answer["pdcp_log_id"]] = "model_response"
    query = (
        "select pdcp_log_id::text, source from patchdiff.append_only_pdcp_logs"
        " where target_file_id = %s"
    )
    assert dict(admin.execute(query, [target]).fetchall()) == expected


@pytest.mark.req("SUBM-018", "SUBM-019")
@pytest.mark.parametrize(
    ("identifier", "reason"),
    [
        *[
            (value, "invalid_target_id")
            for value in (
                "",
                "x",
                UNKNOWN_ID[:-1],
                UNKNOWN_ID.replace("-", ""),
                "A" + UNKNOWN_ID[1:],
                5,
                None,
                True,
                {},
            )
        ],
        (UNKNOWN_ID, "target_not_found"),
    ],
)
def test_no_target_no_row(client, admin, identifier, reason):
    before = row_counts(admin)
    for arguments in ({}, {"client_request_id": "k"}, {"expected_target_version": None}):
        answer = submit(client, identifier, BETA, **arguments)
        assert (answer["status"], answer["failure_reason"]) == ("rejected", reason)
        assert answer["pdcp_log_id"] is None
        assert answer["after_hash"] is None
        assert answer["failure_detail"]
        assert answer["diagnostic"]["retryable"] is False
        context = answer["diagnostic"]["failure_context"]
        assert (context["available"], context["unavailable_reason"]) == (False, reason)
    assert row_counts(admin) == before


@pytest.mark.req("SUBM-023")
def test_identity_then_lineage_then_shape_then_guards(client, target):
    bad_parent = {"parent_pdcp_log_id": "nope"}
    for identifier, reason in ((UNKNOWN_ID, "target_not_found"), ("x", "invalid_target_id")):
        answer = submit(client, identifier, **bad_parent)
        assert answer["failure_reason"] == reason
    for arguments in (
        {},
        {"intent": 5},
        {"expected_target_version": None},
        {"expected_target_version": -1},
    ):
        rejected(
            client,
            target,
            reason="context_invalid",
            code="invalid_parent",
            **bad_parent,
            **arguments,
        )
        rejected(
            client, target, reason="context_invalid", code="invalid_attempt", attempt=0, **arguments
        )
    for guards in (
        {"expected_target_version": None},
        {"expected_target_version": -1},
        {"expected_current_hash": "x"},
    ):
        rejected(client, target, reason="protocol_invalid", **guards)


@pytest.mark.req("SUBM-024")
def test_guard_syntax_then_divergence_then_stale_guards_then_application(client, admin, target):
    absent = change("absent", "x")
    rejected(client, target, absent, reason="target_version_mismatch", expected_target_version=1)
    rejected(client, target, absent, reason="target_hash_mismatch", expected_current_hash="0" * 64)
    rejected(client, target, absent, reason="match_absent")
    overwrite(admin, target, current_content="x")
    for guards in (
        {"expected_target_version": None},
        {"expected_target_version": -1},
        {"expected_current_hash": "0"},
    ):
        context_invalid(client, target, **guards)
    for guards in ({"expected_target_version": 1}, {"expected_current_hash": "0" * 64}, {}):
        rejected(client, target, absent, reason="target_diverged", **guards)
