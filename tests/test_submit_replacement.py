"""patchdiff_submit_replacement: one guarded whole-text change, and the limits of a fresh one."""

from __future__ import annotations

import json

import pytest

from patchdiff import admission
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    attempts,
    content_of,
    document,
    ledger,
    sha256,
    state,
)
from tests.support.proposals import (
    OPERATIONS,
    REPLACEMENT,
    admitted,
    propose,
    row_of,
    rows,
    span,
    turned_down,
)

TEXT = "alpha beta\n\U0001f600"
CODE_POINTS = 1_000_000
BYTES = 1_048_576
OVERSIZED = "a" * (CODE_POINTS + 1)


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


@pytest.mark.req("TX3-001")
@pytest.mark.parametrize("name", ["target_file_id", "intent", "replacement"])
def test_required_arguments(client, name):
    target = document(client, TEXT)["target_file_id"]
    call = {"target_file_id": target, "intent": "t", "replacement": "x"}
    del call[name]
    result = client.call_tool(REPLACEMENT, {**call, "expected_target_version": 0})
    assert result.is_error is True
    assert result.payload["code"] == "missing_argument"
    assert result.payload["missing_arguments"] == [name]
    assert client.call("patchdiff_get_pdcp_log", target_file_id=target)["entries"] == []


@pytest.mark.req("TX3-002")
@pytest.mark.parametrize("replacement", [None, 5, True, 1.5, ["x"], {}, {"text": "x"}])
def test_a_replacement_is_a_string(caller, target, replacement):
    answer = turned_down(caller, REPLACEMENT, target, replacement, "protocol_invalid")
    assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
    assert answer["validity"]["protocol_valid"] is False


@pytest.mark.req("TX3-003", "TX3-006", "TX3-007", "TX3-008", "LEDG-017", "LEDG-019")
@pytest.mark.parametrize(
    ("text", "replacement", "after"),
    [
        (TEXT, "", ""),
        ("", "", ""),
        ("", "x", "x"),
        (TEXT, TEXT, TEXT),
        (TEXT, "a\r\nb\rc\r\r\n\n\rd\r", "a\nb\nc\n\n\n\nd\n"),
        ("\r\n", "\u2028\ufeff\x85\U0010ffff", "\u2028\ufeff\x85\U0010ffff"),
        ("seed\n", "seed\nA\n", "seed\nA\n"),
    ],
)
def test_a_replacement_replaces_the_whole_text(caller, text, replacement, after):
    target = document(caller, text)["target_file_id"]
    answer = admitted(caller, REPLACEMENT, target, replacement)
    before = text.replace("\r\n", "\n")
    fact = {
        "change_id": "chg_001",
        "change_index": 1,
        "operation": "replace_all",
        "span_start": 0,
        "span_end": len(before),
        "matched_chars": len(before),
        "replacement_chars": len(after),
        "matched_sha256": sha256(before),
        "replacement_sha256": sha256(after),
    }
    assert answer["evidence"] == {"changes": [fact]}
    assert (answer["manifest_entries_added"], answer["version"]) == (1, 1)
    assert (answer["before_hash"], answer["after_hash"]) == (sha256(before), sha256(after))
    assert content_of(caller, target) == after
    page = caller.call("patchdiff_read_target", target_file_id=target)
    assert (page["text"], page["total_chars"]) == (after, len(after))
    [entry] = ledger(caller, target)
    assert entry["derived"] == fact
    assert (entry["origin"], entry["intent"], entry["risk"]) == ("typed", "t", None)


@pytest.mark.req("TX3-004", "TX3-005")
@pytest.mark.parametrize("replacement", ["a\r\n\u4e2d", "", None, 5])
def test_what_the_row_says(caller, admin, target, replacement):
    answer = propose(caller, REPLACEMENT, target, replacement, intent="\u4e2d")
    assert answer["status"] == ("accepted" if isinstance(replacement, str) else "rejected")
    row = row_of(admin, answer)
    assert row["protocol_version"] == "patchdiff-tx/3"
    assert row["runtime_version"] == "patchdiff-mvp-0.4.0"
    record = {"protocol": "patchdiff-tx/3", "intent": "\u4e2d", "replacement": replacement}
    assert row["pdcp_content"] == json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    [entry] = attempts(caller, target)
    assert (entry["protocol_version"], entry["runtime_version"]) == (
        "patchdiff-tx/3",
        "patchdiff-mvp-0.4.0",
    )


@pytest.mark.req("TX3-009")
def test_guards(caller, target):
    unguarded = {"expected_target_version": None, "expected_current_hash": None}
    for guards in ({"expected_target_version": None}, unguarded):
        turned_down(
            caller, REPLACEMENT, target, "x", "context_invalid", code="guard_required", **guards
        )
    admitted(caller, REPLACEMENT, target, "seed\nA\n")
    for guards, reason in (
        ({"expected_target_version": 0}, "target_version_mismatch"),
        ({"expected_current_hash": sha256(TEXT)}, "target_hash_mismatch"),
        (
            {"expected_target_version": 1, "expected_current_hash": sha256("")},
            "target_hash_mismatch",
        ),
    ):
        answer = turned_down(caller, REPLACEMENT, target, "seed\nB\n", reason, **guards)
        assert answer["diagnostic"]["validation_stage"] == "precondition_guard"
        assert answer["current_context"]["text"] == "seed\nA\n"
    guards = {"expected_target_version": 1, "expected_current_hash": sha256("seed\nA\n")}
    admitted(caller, REPLACEMENT, target, "seed\nB\n", **guards)


@pytest.mark.req("TX3-010", "TX3-011")
@pytest.mark.parametrize(
    "replacement",
    [
        "a" * CODE_POINTS,
        "\xe9" * (BYTES // 2),
        "\U0001f600" * (BYTES // 4),
        "a" * (CODE_POINTS - 48_576) + "\xe9" * 48_576,
        "a" * (CODE_POINTS - 2) + "\r\n",
    ],
    ids=["code points", "two bytes", "four bytes", "both", "with CRLF"],
)
def test_a_replacement_at_the_limits_is_admitted(caller, target, replacement):
    answer = admitted(caller, REPLACEMENT, target, replacement)
    after = replacement.replace("\r\n", "\n")
    assert answer["after_hash"] == sha256(after)
    assert answer["evidence"]["changes"][0]["replacement_chars"] == len(after)


A, E = CODE_POINTS, BYTES // 2


@pytest.mark.req(
    "TX3-010", "TX3-011", "TX3-012", "TX3-013", "TX3-014", "TX3-015", "TX3-016", "TX3-017",
)  # fmt: skip
@pytest.mark.parametrize(
    ("replacement", "exceeded", "fits"),
    [
        (OVERSIZED, "raw_code_points", False),
        ("a" * (A - 1) + "\r\n", "raw_code_points", True),
        ("a" * A + "\r\n", "raw_code_points", False),
        ("a" * A + "\r", "raw_code_points", False),
        ("\r\n" * A, "raw_code_points", True),
        ("\xe9" * (A + 1), "raw_code_points", False),
        ("\xe9" * E + "a", "raw_utf8_bytes", False),
        ("\xe9" * (E - 1) + "a\r\n", "raw_utf8_bytes", True),
        ("\xe9" * E + "\r\n", "raw_utf8_bytes", False),
        ("\U0001f600" * (BYTES // 4) + "a", "raw_utf8_bytes", False),
        ("\xe9" * (E - 1) + "\r\n" * (A - E + 2), "raw_code_points", False),
    ],
    ids=lambda value: f"{len(value)} of {value[:1]!r}" if isinstance(value, str) else None,
)
def test_a_replacement_past_a_limit(caller, target, replacement, exceeded, fits):
    before = state(caller, target)
    answer = propose(caller, REPLACEMENT, target, replacement)
    canonical = replacement.replace("\r\n", "\n").replace("\r", "\n")
    assert answer["status"] == "invalid_argument"
    assert answer["code"] == "replacement_too_large"
    assert answer["pdcp_log_id"] is None
    assert answer["failure_detail"]
    in_bytes = exceeded == "raw_utf8_bytes"
    assert answer["diagnostic"] == {
        "code": "replacement_too_large",
        "limit_exceeded": exceeded,
        "actual": len(replacement.encode()) if in_bytes else len(replacement),
        "limit": BYTES if in_bytes else CODE_POINTS,
        "canonical_code_points": len(canonical),
        "canonical_utf8_bytes": len(canonical.encode()),
        "canonical_would_fit": fits,
    }
    assert state(caller, target) == before
    assert attempts(caller, target) == []


@pytest.mark.req("TX3-013", "TX3-017")
def test_the_refusal_over_the_wire(client):
    target = document(client, TEXT)["target_file_id"]
    call = {"target_file_id": target, "intent": "t", "replacement": OVERSIZED}
    result = client.call_tool(REPLACEMENT, {**call, "expected_target_version": 0})
    assert result.is_error is False
    assert (result.payload["status"], result.payload["code"]) == (
        "invalid_argument",
        "replacement_too_large",
    )
    assert result.payload["pdcp_log_id"] is None
    assert client.call("patchdiff_get_pdcp_log", target_file_id=target)["entries"] == []


@pytest.mark.req("SUBM-025")
def test_admission_comes_before_identity_lineage_and_guards(caller, target):
    for identifier in (UNKNOWN_ID, "x", target):
        for arguments in (
            {},
            {"expected_target_version": None},
            {"expected_target_version": 7},
            {"parent_pdcp_log_id": "x"},
            {"attempt": 0},
            {"client_request_id": "fresh"},
        ):
            answer = propose(caller, REPLACEMENT, identifier, OVERSIZED, **arguments)
            assert answer.get("code") == "replacement_too_large", answer
            assert answer["pdcp_log_id"] is None
    assert attempts(caller, target) == []
    # a refusal binds no key
    admitted(caller, REPLACEMENT, target, "x", client_request_id="fresh")


@pytest.mark.req("SUBM-025", "TX3-019")
def test_what_comes_before_admission(caller, admin, target):
    bad_key = {"client_request_id": "\x7f"}
    turned_down(
        caller, REPLACEMENT, target, OVERSIZED, "context_invalid", "invalid_client_request_id",
        **bad_key,
    )  # fmt: skip
    for replacement in (OVERSIZED + "\ud800", "\0" + OVERSIZED):
        for arguments in ({}, bad_key, {"expected_target_version": 9}):
            answer = turned_down(
                caller, REPLACEMENT, target, replacement, "target_encoding_invalid", **arguments
            )
            assert answer["diagnostic"]["validation_stage"] == "protocol_validation"
            row = row_of(admin, answer)
            assert row["protocol_version"] == "patchdiff-invalid-input/1"
            assert len(row["pdcp_content"]) > CODE_POINTS


@pytest.mark.req("TX3-018")
def test_operations_have_no_such_limit(caller, target):
    replace = "\u4e2d" * (CODE_POINTS + 1)
    answer = admitted(caller, OPERATIONS, target, [span(0, 0, "", replace)])
    assert answer["evidence"]["changes"][0]["replacement_chars"] == CODE_POINTS + 1
    assert answer["after_hash"] == sha256(replace + TEXT)


@pytest.mark.req("TX3-020", "SUBM-025")
def test_an_oversized_replacement_that_was_recorded_is_recovered(caller, target, monkeypatch):
    with monkeypatch.context() as wider:  # as a version with wider limits would have recorded it
        wider.setattr(admission, "MAXIMUM_CODE_POINTS", 2 * CODE_POINTS)
        first = admitted(caller, REPLACEMENT, target, OVERSIZED, client_request_id="k")
    assert propose(caller, REPLACEMENT, target, OVERSIZED)["code"] == "replacement_too_large"
    again = admitted(caller, REPLACEMENT, target, OVERSIZED, client_request_id="k")
    assert again == {**first, "deduplicated": True}
    assert len(attempts(caller, target)) == 1


@pytest.mark.req("TX3-021", "TX3-022", "SUBM-025")
def test_an_oversized_replacement_under_a_used_key_is_an_audited_conflict(caller, admin, target):
    first = admitted(caller, REPLACEMENT, target, "small", client_request_id="k")
    for _ in range(2):
        answer = turned_down(
            caller, REPLACEMENT, target, OVERSIZED, "context_invalid", "request_key_conflict",
            client_request_id="k",
        )  # fmt: skip
        assert answer["diagnostic"]["existing_pdcp_log_id"] == first["pdcp_log_id"]
        assert answer["diagnostic"]["differing_fields"] == ["replacement"]
        row = row_of(admin, answer)
        record = {"protocol": "patchdiff-tx/3", "intent": "t", "replacement": OVERSIZED}
        assert row["pdcp_content"] == json.dumps(record, separators=(",", ":"))
        assert row["client_request_id"] is None
    assert len(rows(admin, target)) == 3


def test_a_shrunken_text_is_a_valid_replacement(caller):
    text = "0123456789abcde\n" * 1_000
    target = document(caller, text)["target_file_id"]
    admitted(caller, REPLACEMENT, target, text[:4_000])
    assert content_of(caller, target) == text[:4_000]
