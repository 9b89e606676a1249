"""The Python service: whose transaction it is, what it holds, and what others' moves do to it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from patchdiff import Service
from patchdiff.decoding import decode_edits
from patchdiff.evaluation import NotApplicableError, evaluate
from tests.support.documents import sha256

EDIT = [{"match": "alpha", "replace": "gamma"}]


@pytest.fixture
def plain(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection that is not in autocommit mode."""
    with psycopg.connect(database_url) as connection:
        yield connection
        connection.rollback()


def made(service: Service, content: str = "alpha beta\n") -> str:
    answer = service.initialize_target(filename="t.txt", content=content)
    assert answer["status"] == "ok"
    return str(answer["target_file_id"])


@pytest.mark.req("SVC-002")
def test_an_idle_connection_is_committed(plain: psycopg.Connection[Any], service: Service) -> None:
    own = Service(plain)
    target = made(own)
    for version in range(2):  # the second one takes the short way, on the text that is still held
        answer = own.submit_edits(
            target, "i", [{"match": "a", "replace": "a", "occurrence_index": 1}], version
        )
        assert answer["status"] == "accepted"
        assert plain.info.transaction_status == TransactionStatus.IDLE
        assert service.get_target(target)["version"] == version + 1
    rejected = own.submit_edits(target, "i", [{"match": "nowhere", "replace": ""}], 2)
    assert rejected["status"] == "rejected"
    assert service.get_pdcp_log(target)["entries"][0]["pdcp_log_id"] == rejected["pdcp_log_id"]
    assert own.find_occurrences(target, "a")["status"] == "ok"
    assert own.read_lines(target)["status"] == "ok"
    assert plain.info.transaction_status == TransactionStatus.IDLE


@pytest.mark.req("SVC-003", "SVC-004", "SVC-005")
def test_the_callers_transaction_stays_the_callers(
    plain: psycopg.Connection[Any], service: Service, admin: psycopg.Connection[Any]
) -> None:
    own = Service(plain)
    target = made(service)
    plain.execute("select 1")
    accepted = own.submit_edits(target, "i", EDIT, 0)
    assert accepted["status"] == "accepted"
    assert plain.info.transaction_status == TransactionStatus.INTRANS
    rejected = own.submit_edits(target, "i", EDIT, 1)
    assert rejected["failure_reason"] == "match_absent"
    assert rejected["current_context"]["text"] == "gamma beta\n"
    assert plain.info.transaction_status == TransactionStatus.INTRANS
    assert own.get_target(target)["version"] == 1
    assert service.get_target(target)["version"] == 0
    plain.rollback()
    assert service.get_target(target)["current_content"] == "alpha beta\n"
    for table in ("append_only_pdcp_logs", "manifest_ledger"):
        count = admin.execute(
            f"select count(*) from patchdiff.{table} where target_file_id = %s", [target]
        ).fetchone()
        assert count == (0,)
    # what the service still holds of the rolled-back text must not be used
    again = own.submit_edits(target, "i", [{"match": "alpha", "replace": "delta"}], 0)
    assert (again["status"], again["version"]) == ("accepted", 1)
    assert service.get_target(target)["current_content"] == "delta beta\n"


def test_a_connection_may_make_rows_of_any_kind(database_url: str) -> None:
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        service = Service(connection)
        target = made(service)
        assert service.submit_edits(target, "i", EDIT, 0)["version"] == 1
        assert service.find_occurrences(target, "gamma")["occurrence_count"] == 1
        assert service.submit_edits(target, "i", EDIT, 0)["status"] == "rejected"


@pytest.mark.req("SUBM-061")
def test_a_moved_base_is_found_out_and_the_ordinary_outcome_given(
    service: Service, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        other = Service(connection)
        target = made(service, "one two\n")
        assert (
            service.submit_edits(target, "i", [{"match": "one", "replace": "1"}], 0)["version"] == 1
        )
        assert (
            other.submit_edits(target, "i", [{"match": "two", "replace": "2"}], 1)["version"] == 2
        )
        # the service holds version 1
        stale = service.submit_edits(target, "i", [{"match": "two", "replace": "3"}], 1)
        assert stale["failure_reason"] == "target_version_mismatch"
        assert stale["current_version"] == 2
        assert (
            other.submit_edits(target, "i", [{"match": "2", "replace": "two"}], 2)["version"] == 3
        )
        fresh = service.submit_edits(target, "i", [{"match": "two", "replace": "3"}], 3)
        assert fresh["status"] == "accepted"
        assert service.get_target(target)["current_content"] == "1 3\n"
        log = service.get_pdcp_log(target)["entries"]
        assert [entry["status"] for entry in reversed(log)] == [
            "accepted", "accepted", "rejected", "accepted", "accepted",
        ]  # fmt: skip


@pytest.mark.req("SUBM-015")
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("edit", [{"match": "beta", "replace": "b"}, {"match": "x", "replace": ""}])
def test_a_diverged_target_is_found_out_whether_or_not_its_text_is_held(
    service: Service, admin: psycopg.Connection[Any], held: bool, edit: dict[str, str]
) -> None:
    target = made(service)
    if held:
        assert service.submit_edits(target, "i", EDIT, 0)["status"] == "accepted"
    version = int(held)
    admin.execute(
        "update patchdiff.cloud_target_files set current_content = 'altered beta'"
        " where target_file_id = %s",
        [target],
    )
    answer = service.submit_edits(target, "i", [edit], version)
    assert answer["failure_reason"] == "target_diverged"
    assert answer["diagnostic"]["validation_stage"] == "precondition_guard"
    assert service.get_target(target)["current_content"] == "altered beta"


@pytest.mark.req("KEY-001", "KEY-003")
def test_a_keyed_repeat_is_recovered_although_the_text_is_held(service: Service) -> None:
    target = made(service)
    first = service.submit_edits(target, "i", EDIT, 0, client_request_id="k")
    repeat = service.submit_edits(target, "i", EDIT, 0, client_request_id="k")
    assert first["deduplicated"] is False
    assert repeat == {**first, "deduplicated": True}
    assert len(service.get_pdcp_log(target)["entries"]) == 1


def test_strict_observation_rejects_and_records_unobserved_writes(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        service = Service(connection, strict_observation=True)
        target = made(service)
        answer = service.submit_edits(target, "i", EDIT, 0)
        assert answer["failure_reason"] == "context_invalid"
        assert answer["diagnostic"]["code"] == "OBSERVATION_REQUIRED"
        assert answer["diagnostic"]["retryable"] is False
        [entry] = service.get_pdcp_log(target)["entries"]
        assert entry["pdcp_log_id"] == answer["pdcp_log_id"]
        assert service.get_target(target)["version"] == 0


@pytest.mark.req("RESP-002", "RESP-003", "RESP-004", "RESP-005", "RESP-006")
def test_correlation_ids_are_fresh_and_stored_nowhere(
    service: Service, admin: psycopg.Connection[Any]
) -> None:
    target = made(service)
    call = {"expected_target_version": 0, "client_request_id": "k"}
    first = service.submit_edits(target, "i", EDIT, **call, include_correlation_id=True)
    again = service.submit_edits(target, "i", EDIT, **call, include_correlation_id=True)
    assert uuid.UUID(first["correlation_id"]).version == 4
    assert first["correlation_id"] != again["correlation_id"]
    assert again["deduplicated"] is True
    assert "correlation_id" not in service.submit_edits(target, "i", EDIT, **call)
    for table in ("append_only_pdcp_logs", "manifest_ledger"):
        rows = admin.execute(
            f"select count(*) from patchdiff.{table} as t"
            " where t.target_file_id = %s and t::text like %s",
            [target, f"%{first['correlation_id']}%"],
        ).fetchone()
        assert rows == (0,)
    refused = service.submit_edits(target, "i", EDIT, **call, include_correlation_id=1)  # type: ignore[arg-type]
    assert (refused["status"], refused["code"]) == (
        "invalid_argument",
        "invalid_include_correlation_id",
    )
    assert len(service.get_pdcp_log(target)["entries"]) == 1


@pytest.mark.req("SUBM-034", "SUBM-037", "SUBM-038", "SUBM-039", "SUBM-030")
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.text(alphabet="ab\U0001f600\u4e2d\n", max_size=12),
    st.lists(
        st.lists(
            st.tuples(
                st.text(alphabet="ab\U0001f600\n", min_size=1, max_size=2),
                st.text(alphabet="ab\u4e2d\r", max_size=3),
            ),
            min_size=1,
            max_size=5,
        ),
        max_size=4,
    ),
)
def test_facts_of_the_database_are_those_of_the_evaluation(
    service: Service, text: str, transactions: list[list[tuple[str, str]]]
) -> None:
    target = made(service, text)
    version = 0
    for transaction in transactions:
        edits = [
            {"match": match, "replace": new, "occurrence_index": 1} for match, new in transaction
        ]
        answer = service.submit_edits(target, "i", edits, version)
        try:
            result = evaluate(text, decode_edits("i", edits))
        except NotApplicableError as failure:
            assert answer["failure_reason"] == failure.reason
            continue
        version += 1
        assert answer["evidence"]["changes"] == [
            {
                "change_id": f"chg_{index:03d}",
                "change_index": index,
                "span_start": item.start,
                "span_end": item.end,
                "matched_chars": len(item.matched),
                "replacement_chars": len(item.change.replace),
                "matched_sha256": sha256(item.matched),
                "replacement_sha256": sha256(item.change.replace),
            }
            for index, item in enumerate(result.applied, 1)
        ]
        assert (answer["before_hash"], answer["after_hash"]) == (sha256(text), sha256(result.text))
        text = result.text
        assert service.get_target(target)["current_content"] == text


def test_invalid_text_far_down_is_recorded_with_a_bounded_path(service: Service) -> None:
    target = made(service)
    nested: Any = "\ud800"
    for _ in range(60):
        nested = {"x" * 79: nested}
    answer = service.submit_edits(target, "i", [nested], 0)
    assert answer["failure_reason"] == "target_encoding_invalid"
    [place] = answer["diagnostic"]["invalid_text"]
    assert len(place["path"]) == 1_200
    assert service.get_pdcp_log(target)["entries"][0]["pdcp_log_id"] == answer["pdcp_log_id"]
