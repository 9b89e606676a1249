"""What patchdiff_preview takes, and its answer to an accepted proposal field by field."""

from __future__ import annotations

import pytest

from tests.support.documents import UNKNOWN_ID, change, document, row_counts, sha256
from tests.support.previews import preview
from tests.support.proposals import (
    EDITS,
    FIELDS,
    OPERATIONS,
    PROTOCOLS,
    REPLACEMENT,
    TOOLS,
    json_bytes,
    simple,
)

TEXT = "alpha beta alpha\n"
OWN = {PROTOCOLS[tool]: (FIELDS[tool], simple(tool, TEXT, "new")) for tool in TOOLS}


@pytest.mark.req("PREV-001")
@pytest.mark.parametrize("missing", ["target_file_id", "format"])
def test_target_and_format_are_required(client, missing):
    arguments = {"target_file_id": UNKNOWN_ID, "format": "patchdiff-tx/1"}
    del arguments[missing]
    result = client.call_tool("patchdiff_preview", arguments)
    assert result.is_error
    assert (result.payload["status"], result.payload["code"]) == (
        "invalid_argument",
        "missing_argument",
    )
    assert result.payload["missing_arguments"] == [missing]
    result = client.call_tool(
        "patchdiff_preview", {"target_file_id": UNKNOWN_ID, "format": "patchdiff-tx/1"}
    )
    assert not result.is_error


@pytest.mark.req("PREV-006")
@pytest.mark.parametrize(
    "name",
    ["client_request_id", "parent_pdcp_log_id", "attempt", "source", "include_correlation_id"],
)
def test_there_is_no_key_lineage_or_correlation(client, service, name):
    arguments = {"target_file_id": UNKNOWN_ID, "format": "patchdiff-tx/1", name: None}
    result = client.call_tool("patchdiff_preview", arguments)
    assert result.is_error
    assert result.payload["code"] == "unknown_argument"
    assert result.payload["unknown_arguments"] == [name]
    with pytest.raises(TypeError, match=name):
        service.preview(**arguments)


@pytest.mark.req("PREV-002", "PREV-012", "PREV-014", "PREV-015", "PREV-016")
@pytest.mark.parametrize("tool", TOOLS)
def test_an_accepted_preview_of_each_format(client, tool):
    target = document(client, TEXT)["target_file_id"]
    answer = preview(client, tool, target, simple(tool, TEXT, "gam\r\nma"))
    operation = {EDITS: {}, OPERATIONS: {"operation": "span"}}
    assert answer == {
        "status": "accepted",
        "preview": True,
        "advisory": True,
        "stage": "transaction_applicability",
        "validity": {
            "protocol_valid": True,
            "transaction_valid": True,
            "task_correct": "not_evaluated",
            "semantic": "not_evaluated",
        },
        "current_version": 0,
        "current_hash": sha256(TEXT),
        "before_version": 0,
        "before_hash": sha256(TEXT),
        "after_hash": sha256("gam\nma"),
        "change_facts": [
            {
                "change_id": "chg_001",
                "change_index": 1,
                **operation.get(tool, {"operation": "replace_all"}),
                "span_start": 0,
                "span_end": len(TEXT),
                "matched_chars": len(TEXT),
                "replacement_chars": 6,
                "matched_sha256": sha256(TEXT),
                "replacement_sha256": sha256("gam\nma"),
            }
        ],
        "total_change_count": 1,
        "returned_fact_count": 1,
        "change_facts_truncated": False,
        "change_facts_omission_reason": None,
        "warnings": [],
        "warning_details": [],
        "warning_count": 0,
        "warnings_truncated": False,
        "target_file_id": target,
        "format": PROTOCOLS[tool],
        "runtime_version": {
            EDITS: "patchdiff-mvp-0.2.2",
            OPERATIONS: "patchdiff-mvp-0.3.0",
            REPLACEMENT: "patchdiff-mvp-0.4.0",
        }[tool],
        "evidence_omissions": [],
    }


def own_invalid_argument(answer, code):
    assert (answer["status"], answer["code"]) == ("invalid_argument", code)
    assert answer["detail"] == answer["failure_detail"]
    assert answer["detail"].isascii()
    assert (answer["preview"], answer["advisory"]) == (True, True)
    assert json_bytes(answer) < 1_024


@pytest.mark.req("PREV-002", "PREV-003", "PREV-009", "PREV-022")
@pytest.mark.parametrize("format_", OWN)
def test_a_field_of_another_format(client, admin, format_):
    target = document(client, TEXT)["target_file_id"]
    field, proposal = OWN[format_]
    before = row_counts(admin)
    call = {"target_file_id": target, "format": format_, "intent": "t", field: proposal}
    call["expected_target_version"] = 0
    for other, value in OWN.values():
        if other == field:
            continue
        for given in (None, value, [], "", "\ud800", "x" * 100_000):
            answer = client.call("patchdiff_preview", **call, **{other: given})
            own_invalid_argument(answer, "field_of_another_format")
            assert other in answer["detail"]
    others = {other: None for other, _ in OWN.values() if other != field}
    answer = client.call("patchdiff_preview", **call, **others)
    assert all(other in answer["detail"] for other in others)
    assert client.call("patchdiff_preview", **call)["status"] == "accepted"
    assert row_counts(admin) == before


@pytest.mark.req("PREV-004", "PREV-009", "PREV-022")
@pytest.mark.parametrize(
    "format_",
    [
        "", "patchdiff-tx/0", "patchdiff-tx/4", "patchdiff-tx/1 ", "PATCHDIFF-TX/1", "tx/1", "1",
        "patchdiff-invalid-input/1", "patchdiff-observed-batch/1", "\ud800", "\0", "x" * 1_000_000,
        None, 1, 1.0, True, [], {}, ["patchdiff-tx/1"],
    ],
)  # fmt: skip
def test_an_unknown_format(client, admin, format_):
    target = document(client, TEXT)["target_file_id"]
    before = row_counts(admin)
    answer = client.call(
        "patchdiff_preview",
        target_file_id=target,
        format=format_,
        intent="t",
        edits=[change("beta", "b")],
        expected_target_version=0,
    )
    own_invalid_argument(answer, "unsupported_format")
    assert answer["allowed_formats"] == ["patchdiff-tx/1", "patchdiff-tx/2", "patchdiff-tx/3"]
    assert all(name in answer["detail"] for name in answer["allowed_formats"])
    assert row_counts(admin) == before
