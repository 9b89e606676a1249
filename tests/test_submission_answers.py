"""The answers to submissions, field by field; an attempt is recorded whole or not at all."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.documents import (
    UUID_PATTERN,
    ServiceCaller,
    accepted,
    attempts,
    change,
    content_of,
    document,
    ledger,
    rejected,
    sha256,
    state,
    submit,
)

TEXT = "alpha beta alpha\n"
HASH = sha256(TEXT)


@pytest.fixture
def target(client):
    return document(client, "alpha beta alpha\r\n")["target_file_id"]


@pytest.mark.req(
    "SUBM-026", "SUBM-027", "SUBM-028", "SUBM-029", "SUBM-030", "SUBM-031", "SUBM-032", "SUBM-033",
    "SUBM-034", "SUBM-035", "SUBM-036", "SUBM-037", "SUBM-038", "SUBM-039", "SUBM-040", "SUBM-041",
    "SUBM-042", "SUBM-043",
)  # fmt: skip
def test_the_accepted_answer_of_the_contract(client, target):
    edit = change("alpha", "gamma", occurrence_index=2)
    answer = accepted(client, target, edit, client_request_id="req-002")
    after = sha256("alpha beta gamma\n")
    assert UUID_PATTERN.fullmatch(answer["pdcp_log_id"])
    assert answer == {
        "status": "accepted",
        "target_file_id": target,
        "before_hash": HASH,
        "after_hash": after,
        "version": 1,
        "current_version": 1,
        "current_hash": after,
        "pdcp_log_id": attempts(client, target)[0]["pdcp_log_id"],
        "manifest_entries_added": 1,
        "warnings": [],
        "warning_details": [],
        "warning_count": 0,
        "warnings_truncated": False,
        "validity": {
            "protocol_valid": True,
            "transaction_valid": True,
            "task_correct": "not_evaluated",
            "semantic": "not_evaluated",
        },
        "evidence": {
            "changes": [
                {
                    "change_id": "chg_001",
                    "change_index": 1,
                    "span_start": 11,
                    "span_end": 16,
                    "matched_chars": 5,
                    "replacement_chars": 5,
                    "matched_sha256": sha256("alpha"),
                    "replacement_sha256": sha256("gamma"),
                }
            ]
        },
        "deduplicated": False,
        "client_request_id": "req-002",
    }
    assert (HASH[:8], after[:8]) == ("b22ebf77", "adf7157c")
    assert (sha256("alpha")[:8], sha256("gamma")[:8]) == ("8ed3f6ad", "be9d587d")


@pytest.mark.req(
    "SUBM-029", "SUBM-030", "SUBM-031", "SUBM-034", "SUBM-035", "SUBM-036", "SUBM-037", "SUBM-038",
    "SUBM-039", "SUBM-041", "SUBM-043",
)  # fmt: skip
def test_the_facts_of_several_edits(client):
    buffer = "\U0001f600one\n\u4e2dtwo\nthree\n"
    target = document(client, buffer)["target_file_id"]
    edits = [
        change("two", "2\r\n2\r\U0001f600"),
        change("\U0001f600one\r\n", ""),
        change("three", "\xe9\u0301"),
    ]
    facts, before = [], sha256(buffer)
    for index, edit in enumerate(edits, 1):
        match, replace = (
            text.replace("\r\n", "\n").replace("\r", "\n")
            for text in (edit["match"], edit["replace"])
        )
        assert buffer.count(match) == 1
        start = buffer.index(match)
        buffer = buffer[:start] + replace + buffer[start + len(match) :]
        facts.append(
            {
                "change_id": f"chg_{index:03}",
                "change_index": index,
                "span_start": start,
                "span_end": start + len(match),
                "matched_chars": len(match),
                "replacement_chars": len(replace),
                "matched_sha256": sha256(match),
                "replacement_sha256": sha256(replace),
            }
        )
    answer = accepted(client, target, *edits)
    assert answer["evidence"] == {"changes": facts}
    assert (answer["version"], answer["manifest_entries_added"], answer["client_request_id"]) == (
        1,
        3,
        None,
    )
    assert (answer["before_hash"], answer["after_hash"]) == (before, sha256(buffer))
    assert content_of(client, target) == buffer
    assert [entry["derived"] for entry in ledger(client, target)] == facts
    again = accepted(
        client, target, change("2", "3", occurrence_index=1), expected_target_version=1
    )
    assert (again["version"], again["before_hash"]) == (2, answer["after_hash"])


@pytest.mark.req("SUBM-041")
def test_the_key_is_echoed_by_a_rejection_too(client, target):
    answer = rejected(
        client, target, change("absent", "x"), reason="match_absent", client_request_id="k 1~!"
    )
    assert answer["client_request_id"] == "k 1~!"


@pytest.mark.req(
    "SUBM-044", "SUBM-046", "SUBM-047", "SUBM-049", "SUBM-051", "SUBM-052", "SUBM-053", "SUBM-054",
)  # fmt: skip
def test_the_rejected_answer_of_the_contract(client, target):
    answer = rejected(
        client, target, change("alpha", "x"), reason="match_ambiguous", client_request_id="req-001"
    )
    candidates = [
        {"occurrence_index": 1, "start": 0, "end": 5, "before": "", "after": " beta alpha\n"},
        {"occurrence_index": 2, "start": 11, "end": 16, "before": "alpha beta ", "after": "\n"},
    ]
    context = {
        "available": True,
        "unavailable_reason": None,
        "selection": "prefix",
        "buffer_stage": "canonical_target",
        "prior_changes": 0,
        "start": 0,
        "end": 17,
        "total_chars": 17,
        "text": TEXT,
        "truncated": False,
        "observed_target_version": 0,
        "observed_target_hash": HASH,
    }
    assert answer == {
        "status": "rejected",
        "target_file_id": target,
        "failure_reason": "match_ambiguous",
        "failure_detail": "MATCH text appears multiple times without disambiguation.",
        "failed_change_id": "chg_001",
        "before_hash": HASH,
        "after_hash": None,
        "current_version": 0,
        "current_hash": HASH,
        "pdcp_log_id": answer["pdcp_log_id"],
        "diagnostic": {
            "format": "patchdiff-tx/1",
            "occurrence_count": 2,
            "exact_candidates": {
                "kind": "exact_occurrences",
                "occurrence_count": 2,
                "returned_count": 2,
                "candidates": [
                    {**each, "match_preview": "alpha", "match_truncated": False}
                    for each in candidates
                ],
                "truncated": False,
                "next_occurrence_index": None,
                "buffer_stage": "canonical_target",
                "prior_changes": 0,
                "observed_target_version": 0,
                "observed_target_hash": HASH,
            },
            "retryable": True,
            "requires_new_submission": True,
            "validation_stage": "transaction_applicability",
            "failure_context": context,
        },
        "current_context": {
            **dict.fromkeys(context),
            "available": False,
            "unavailable_reason": "same_as_failure_context",
        },
        "validity": {
            "protocol_valid": True,
            "transaction_valid": False,
            "task_correct": "not_evaluated",
            "semantic": "not_evaluated",
        },
        "deduplicated": False,
        "client_request_id": "req-001",
    }
    assert list(answer)[:3] == ["status", "target_file_id", "failure_reason"]


@pytest.mark.req("SUBM-048", "SUBM-021", "SUBM-047")
def test_the_failed_change_is_named(client):
    target = document(client, "a\na\nb\nc\n")["target_file_id"]
    edits = [
        change("b", "B", change_id="k1"),
        change("a", "A", change_id="k2"),
        change("c", "C", change_id="k3"),
    ]
    answer = rejected(client, target, *edits, reason="match_ambiguous")
    assert answer["failed_change_id"] == "k2"
    assert answer["diagnostic"]["exact_candidates"]["prior_changes"] == 1
    assert answer["diagnostic"]["exact_candidates"]["buffer_stage"] == "intermediate_buffer"
    assert content_of(client, target) == "a\na\nb\nc\n"
    unnamed = [change("b", "B"), change("nowhere", "x")]
    assert (
        rejected(client, target, *unnamed, reason="match_absent")["failed_change_id"] == "chg_002"
    )


@pytest.mark.req("SUBM-060")
@pytest.mark.parametrize(
    "table", ["append_only_pdcp_logs", "manifest_ledger", "cloud_target_files"]
)
def test_a_failure_between_the_writes_leaves_nothing(service, admin, table):
    caller = ServiceCaller(service)
    target = document(caller, "one two\n")["target_file_id"]
    before = state(caller, target)
    event = "update" if table == "cloud_target_files" else "insert"
    condition = "new.version = 1" if table == "cloud_target_files" else "new.status = 'accepted'"
    condition = "new.change_index = 2" if table == "manifest_ledger" else condition
    admin.execute(
        "create function public.refuse_write() returns trigger language plpgsql as"
        " $$ begin raise exception 'refused by the test'; end $$"
    )
    admin.execute(
        f"create trigger refuse_write after {event} on patchdiff.{table} for each row"
        f" when (new.target_file_id = '{target}' and {condition})"
        " execute function public.refuse_write()"
    )
    try:
        with pytest.raises(psycopg.Error, match="refused by the test"):
            submit(caller, target, change("one", "1"), change("two", "2"))
    finally:
        admin.execute(f"drop trigger refuse_write on patchdiff.{table}")
        admin.execute("drop function public.refuse_write()")
    assert state(caller, target) == before
    assert attempts(caller, target) == []
    accepted(caller, target, change("one", "1"), change("two", "2"))
    assert (
        content_of(caller, target),
        len(attempts(caller, target)),
        len(ledger(caller, target)),
    ) == ("1 2\n", 1, 2)
