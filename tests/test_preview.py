"""patchdiff_preview: its verdict is the one that submission then gives."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    attempts,
    change,
    document,
    overwrite,
    row_counts,
    sha256,
    state,
    submit,
)
from tests.support.previews import accepted_alike, preview, rejected_alike
from tests.support.proposals import (
    EDITS,
    FIELDS,
    OPERATIONS,
    PROTOCOLS,
    REPLACEMENT,
    TOOLS,
    match,
    propose,
    simple,
    span,
)

TEXT = "alpha beta alpha\n"
OWN = {PROTOCOLS[tool]: (FIELDS[tool], simple(tool, TEXT, "new")) for tool in TOOLS}


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


@pytest.mark.req("PREV-005", "PREV-013", "PREV-014")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("guards", "code"),
    [
        ({"expected_target_version": None}, "guard_required"),
        ({"expected_current_hash": None}, "guard_required"),
        ({"expected_target_version": "0"}, "invalid_expected_target_version"),
        ({"expected_target_version": True}, "invalid_expected_target_version"),
        ({"expected_target_version": 2**63}, "invalid_expected_target_version"),
        ({"expected_current_hash": sha256(TEXT).upper()}, "invalid_expected_current_hash"),
        (
            {"expected_target_version": 0, "expected_current_hash": 7},
            "invalid_expected_current_hash",
        ),
    ],
)
def test_unusable_guards(caller, target, tool, guards, code):
    proposal = simple(tool, TEXT, "new")
    answer = rejected_alike(caller, tool, target, proposal, "context_invalid", **guards)
    assert answer["diagnostic"]["code"] == code
    assert answer["stage"] == "protocol_validation"


@pytest.mark.req("PREV-005")
def test_no_guard_at_all(client):
    target = document(client, TEXT)["target_file_id"]
    for format_, (field, proposal) in OWN.items():
        call = {"target_file_id": target, "format": format_, "intent": "t", field: proposal}
        answer = client.call("patchdiff_preview", **call)
        assert (answer["status"], answer["failure_reason"]) == ("rejected", "context_invalid")
        assert answer["diagnostic"]["code"] == "guard_required"


MALFORMED = [
    *((EDITS, value) for value in (None, [], {}, "x", [None], [{}], [change("", "x")])),
    *((EDITS, [change("beta", "b", **extra)]) for extra in ({"rationale": 1}, {"x": 1})),
    (EDITS, [change("beta", "b", change_id="n"), change("alpha", "a", change_id="n")]),
    *((OPERATIONS, value) for value in (None, [], [{}], [{"op": "replace"}], "x")),
    (OPERATIONS, [span(2, 1, "", "")]),
    (OPERATIONS, [span(0, 0, "", "", expected_before="")]),
    (OPERATIONS, [match("beta", "b"), span(True, 1, "a", "b")]),
    *((REPLACEMENT, value) for value in (None, 1, [], {})),
]


@pytest.mark.req("PREV-007", "PREV-013", "PREV-014", "PREV-018")
@pytest.mark.parametrize(("tool", "proposal"), MALFORMED)
def test_a_malformed_proposal(caller, target, tool, proposal):
    answer = rejected_alike(caller, tool, target, proposal, "protocol_invalid")
    assert answer["stage"] == "protocol_validation"
    assert answer["validity"]["protocol_valid"] is False
    rejected_alike(caller, tool, target, proposal, "protocol_invalid", expected_target_version=9)


@pytest.mark.req("PREV-007")
@pytest.mark.parametrize("format_", OWN)
def test_a_proposal_without_its_fields(client, format_):
    target = document(client, TEXT)["target_file_id"]
    field, proposal = OWN[format_]
    for given in ({}, {"intent": "t"}, {field: proposal}, {"intent": None, field: proposal}):
        answer = client.call(
            "patchdiff_preview",
            target_file_id=target,
            format=format_,
            expected_target_version=0,
            **given,
        )
        assert (answer["status"], answer["failure_reason"]) == ("rejected", "protocol_invalid")


@pytest.mark.req("PREV-007", "PREV-013", "PREV-018")
@pytest.mark.parametrize("tool", TOOLS)
def test_invalid_text(caller, target, tool):
    proposals = {EDITS: [change("\ud800", "b")], OPERATIONS: [span(0, 0, "", "a\0")]}
    proposal = proposals.get(tool, "\udfff" + "x" * 1_000_000)
    answer = rejected_alike(caller, tool, target, proposal, "target_encoding_invalid")
    assert answer["stage"] == "protocol_validation"
    guards = {"expected_target_version": 0, "expected_current_hash": "\ud800"}
    proposal = simple(tool, TEXT, "new")
    rejected_alike(caller, tool, target, proposal, "target_encoding_invalid", **guards)


@pytest.mark.req("PREV-008", "PREV-014")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("target_file_id", "reason"),
    [
        (UNKNOWN_ID, "target_not_found"),
        (UNKNOWN_ID.replace("-", ""), "invalid_target_id"),
        ("", "invalid_target_id"),
        ("\u4e2d" * 1_024, "invalid_target_id"),
        ("\ud800", "invalid_target_id"),
        (None, "invalid_target_id"),
        (7, "invalid_target_id"),
        ([], "invalid_target_id"),
    ],
)
def test_a_target_that_does_not_exist(caller, tool, target_file_id, reason):
    answer = rejected_alike(caller, tool, target_file_id, simple(tool, TEXT, "new"), reason)
    named = target_file_id if isinstance(target_file_id, str) else None
    assert answer["target_file_id"] == named
    assert answer["current_version"] is answer["current_hash"] is None
    assert answer["current_context"]["unavailable_reason"] == reason


STALE = [
    ({"expected_target_version": 1}, "target_version_mismatch"),
    ({"expected_current_hash": sha256("other")}, "target_hash_mismatch"),
    (
        {"expected_target_version": 2**63 - 1, "expected_current_hash": sha256("other")},
        "target_version_mismatch",
    ),
]


@pytest.mark.req("PREV-013", "PREV-014", "PREV-015")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("guards", "reason"), STALE)
def test_a_stale_guard(caller, target, tool, guards, reason):
    answer = rejected_alike(caller, tool, target, simple(tool, TEXT, "new"), reason, **guards)
    assert answer["stage"] == "precondition_guard"
    assert (answer["current_version"], answer["current_hash"]) == (0, sha256(TEXT))


@pytest.mark.req("PREV-013", "PREV-015")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_target_whose_text_lost_its_hash(caller, admin, target, tool):
    overwrite(admin, target, current_content="altered")
    proposal = simple(tool, "altered", "new")
    answer = rejected_alike(caller, tool, target, proposal, "target_diverged")
    assert answer["stage"] == "precondition_guard"
    assert answer["current_hash"] == sha256(TEXT)


INAPPLICABLE = [
    (EDITS, [change("betta", "b")], "match_absent"),
    (EDITS, [change("beta", "b"), change("\r\nbetta", "b")], "match_absent"),
    (EDITS, [change("x" * 65, "b")], "match_absent"),
    (EDITS, [change("alpha", "b")], "match_ambiguous"),
    (EDITS, [change("beta", "b"), change("alpha", "b")], "match_ambiguous"),
    (EDITS, [change("alpha", "b", occurrence_index=3)], "disambiguation_invalid"),
    (EDITS, [change("beta", "b"), change("beta alpha", "c")], "sequential_match_invalid"),
    (OPERATIONS, [match("betta", "b")], "match_absent"),
    (OPERATIONS, [match("beta", "b"), match("beta", "c")], "sequential_match_invalid"),
    (OPERATIONS, [span(0, 18, TEXT, "b")], "span_out_of_bounds"),
    (OPERATIONS, [span(6, 10, "Beta", "b")], "span_expected_text_mismatch"),
    (
        OPERATIONS,
        [match("beta", "b"), span(6, 6, "", "c", expected_before="alpha")],
        "span_expected_text_mismatch",
    ),
]


@pytest.mark.req("PREV-013", "PREV-014", "PREV-018", "PREV-019")
@pytest.mark.parametrize(("tool", "proposal", "reason"), INAPPLICABLE)
def test_a_proposal_that_does_not_apply(caller, target, tool, proposal, reason):
    answer = rejected_alike(caller, tool, target, proposal, reason)
    assert answer["stage"] == "transaction_applicability"
    assert answer["validity"] == {
        "protocol_valid": True,
        "transaction_valid": False,
        "task_correct": "not_evaluated",
        "semantic": "not_evaluated",
    }
    assert ("near_misses" in answer) is (reason in ("match_absent", "sequential_match_invalid"))
    assert "change_facts" not in json.dumps(answer)


@pytest.mark.req("PREV-013", "PREV-016", "PREV-017")
@pytest.mark.parametrize(
    ("tool", "proposal", "text", "codes"),
    [
        (EDITS, [change("beta", "b\r\nb")], "alpha b\nb alpha\n", set()),
        (EDITS, [change("beta", "beta")], TEXT, {"no_op_change", "no_op_transaction"}),
        (
            EDITS,
            [
                change("alpha", "x", occurrence_index=1),
                change("alpha", "\U0001f600\u200d", occurrence_index=1),
                change("\u200d", "", change_id="cut"),
            ],
            "x beta \U0001f600\n",
            {"occurrence_index_basis_shift", "grapheme_boundary_split"},
        ),
        (
            OPERATIONS,
            [span(6, 10, "beta", ""), span(0, 0, "", "\xe9")],
            "\xe9alpha  alpha\n",
            set(),
        ),
        (REPLACEMENT, "", "", set()),
        (REPLACEMENT, TEXT, TEXT, {"no_op_change", "no_op_transaction"}),
    ],
)
def test_a_proposal_that_applies(caller, target, tool, proposal, text, codes):
    answer = accepted_alike(caller, tool, target, proposal)
    assert answer["after_hash"] == sha256(text)
    assert {detail["code"] for detail in answer["warning_details"]} == codes


@pytest.mark.req("PREV-023")
@pytest.mark.parametrize(
    ("fields", "runtime", "status"),
    [
        ({}, "patchdiff-mvp-0.3.0", "accepted"),
        ({"expected_before": None}, "patchdiff-mvp-0.5.0", "accepted"),
        ({"expected_after": None}, "patchdiff-mvp-0.5.0", "accepted"),
        ({"expected_before": "alpha ", "expected_after": " "}, "patchdiff-mvp-0.5.0", "accepted"),
        ({"expected_before": "alpha"}, "patchdiff-mvp-0.5.0", "rejected"),
        ({"expected_after": 7}, "patchdiff-mvp-0.5.0", "rejected"),
        ({"unknown": 7}, "patchdiff-mvp-0.3.0", "rejected"),
    ],
)
def test_span_context_chooses_the_runtime(caller, target, fields, runtime, status):
    proposal = [match("beta", "b"), span(6, 7, "b", "c", **fields)]
    answer = preview(caller, OPERATIONS, target, proposal)
    assert (answer["status"], answer["runtime_version"]) == (status, runtime)
    propose(caller, OPERATIONS, target, proposal)
    assert attempts(caller, target)[0]["runtime_version"] == runtime


@pytest.mark.req("PREV-023")
@pytest.mark.parametrize(
    ("tool", "proposal", "runtime"),
    [
        (OPERATIONS, [match("beta", "b", expected_before=None)], "patchdiff-mvp-0.3.0"),
        (OPERATIONS, [{"op": "other", "expected_after": None}], "patchdiff-mvp-0.3.0"),
        (OPERATIONS, [None, {"op": "span", "expected_after": None}], "patchdiff-mvp-0.5.0"),
        (OPERATIONS, {"op": "span", "expected_after": None}, "patchdiff-mvp-0.3.0"),
        (OPERATIONS, None, "patchdiff-mvp-0.3.0"),
        (EDITS, [{"op": "span", "expected_after": None}], "patchdiff-mvp-0.2.2"),
        (REPLACEMENT, None, "patchdiff-mvp-0.4.0"),
        (REPLACEMENT, "\ud800", None),
    ],
)
def test_the_runtime_is_that_of_the_row_whatever_the_proposal(
    caller, target, tool, proposal, runtime
):
    assert preview(caller, tool, target, proposal)["runtime_version"] == runtime
    propose(caller, tool, target, proposal)
    assert attempts(caller, target)[0]["runtime_version"] == runtime


@pytest.mark.req("PREV-009", "PREV-020", "PREV-022", "PREV-024")
@pytest.mark.parametrize(
    ("replacement", "limit", "would_fit"),
    [
        ("x" * 1_000_001, "raw_code_points", False),
        ("x" * 999_999 + "\r\n", "raw_code_points", True),
        ("\U0001f600" * 262_145, "raw_utf8_bytes", False),
    ],
)
def test_a_replacement_that_is_too_large(client, admin, replacement, limit, would_fit):
    target = document(client, TEXT)["target_file_id"]
    before = row_counts(admin)
    previewed = preview(client, REPLACEMENT, target, replacement)
    submitted = propose(client, REPLACEMENT, target, replacement)
    assert (previewed["status"], previewed["code"]) == ("invalid_argument", "replacement_too_large")
    assert previewed["diagnostic"] == submitted["diagnostic"]
    assert previewed["diagnostic"]["limit_exceeded"] == limit
    assert previewed["diagnostic"]["canonical_would_fit"] is would_fit
    assert previewed["detail"] == previewed["failure_detail"] == submitted["failure_detail"]
    assert previewed["pdcp_log_id"] is None
    assert row_counts(admin) == before
    # it comes before everything about the target and the guards
    for given in (UNKNOWN_ID, "nonsense"):
        assert preview(client, REPLACEMENT, given, replacement)["code"] == "replacement_too_large"


@pytest.mark.req("PREV-016", "PREV-020", "PREV-024", "PREV-039")
def test_the_largest_replacement(client):
    target = document(client, TEXT)["target_file_id"]
    answer = preview(client, REPLACEMENT, target, "x" * 1_000_000)
    assert (answer["status"], answer["after_hash"]) == ("accepted", sha256("x" * 1_000_000))


@pytest.mark.req("PREV-021")
def test_a_recorded_outcome_does_not_matter(caller, target):
    edits = [change("gamma", "g")]
    first = propose(caller, EDITS, target, edits, client_request_id="k")
    assert first["failure_reason"] == "match_absent"
    overwriting = propose(caller, REPLACEMENT, target, "gamma\n")
    assert propose(caller, EDITS, target, edits, client_request_id="k")["deduplicated"] is True
    answer = preview(caller, EDITS, target, edits)
    assert answer["failure_reason"] == "target_version_mismatch"
    answer = preview(caller, EDITS, target, edits, expected_target_version=1)
    assert (answer["status"], answer["after_hash"]) == ("accepted", sha256("g\n"))
    assert "deduplicated" not in answer
    assert answer["before_hash"] == overwriting["after_hash"]


@pytest.mark.req("PREV-041")
def test_a_preview_reserves_nothing(caller, database_url):
    # hard input: preview approved, text changed by another session, applied anyway
    target = document(caller, "a b\n")["target_file_id"]
    answer = preview(caller, EDITS, target, [change("a", "A")])
    assert answer["status"] == "accepted"
    with psycopg.connect(database_url, autocommit=True) as other:
        changed = submit(ServiceCaller(Service(other)), target, change("b", "c"))
    assert changed["version"] == 1
    known = state(caller, target)
    late = submit(caller, target, change("a", "A"), expected_target_version=0)
    assert late["failure_reason"] == "target_version_mismatch"
    late = submit(caller, target, change("a", "A"), expected_current_hash=answer["before_hash"])
    assert late["failure_reason"] == "target_hash_mismatch"
    assert state(caller, target) == known


@pytest.mark.req("PREV-013")
@pytest.mark.parametrize("tool", TOOLS)
def test_strict_observation_rejects_a_preview_as_it_would_its_submission(
    database_url, target, tool
):
    with psycopg.connect(database_url, autocommit=True) as connection:
        strict = ServiceCaller(Service(connection, strict_observation=True))
        proposal: Any = simple(tool, TEXT, "new")
        answer = rejected_alike(strict, tool, target, proposal, "context_invalid")
        assert answer["diagnostic"]["code"] == "OBSERVATION_REQUIRED"
        if tool == REPLACEMENT:
            proposal = "x" * 1_000_001
            assert preview(strict, tool, target, proposal)["code"] == "replacement_too_large"
