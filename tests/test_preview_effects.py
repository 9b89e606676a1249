"""patchdiff_preview leaves no trace: no row, no lock, no commit; and it observes once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import sql
from psycopg.pq import TransactionStatus

from patchdiff import Service
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    change,
    document,
    overwrite,
    sha256,
    submit,
)
from tests.support.previews import preview
from tests.support.proposals import EDITS, OPERATIONS, REPLACEMENT, match, propose, simple, span

TEXT = "alpha beta alpha\n"
LOCK = "select from patchdiff.cloud_target_files where target_file_id = %s for update"

# one proposal for every kind of verdict
VERDICTS = [
    (EDITS, [change("beta", "b")], {}, "accepted"),
    (OPERATIONS, [span(0, 0, "", "x"), match("beta", "b")], {}, "accepted"),
    (REPLACEMENT, "new", {}, "accepted"),
    (EDITS, [change("betta", "b")], {}, "match_absent"),
    (EDITS, [change("alpha", "b")], {}, "match_ambiguous"),
    (EDITS, [change("beta", "b"), change("beta", "c")], {}, "sequential_match_invalid"),
    (OPERATIONS, [span(0, 99, "", "x")], {}, "span_out_of_bounds"),
    (OPERATIONS, [span(0, 1, "b", "x")], {}, "span_expected_text_mismatch"),
    (EDITS, [], {}, "protocol_invalid"),
    (EDITS, [change("\ud800", "b")], {}, "target_encoding_invalid"),
    (REPLACEMENT, "new", {"expected_target_version": None}, "context_invalid"),
    (REPLACEMENT, "new", {"expected_target_version": 9}, "target_version_mismatch"),
    (REPLACEMENT, "new", {"expected_current_hash": "0" * 64}, "target_hash_mismatch"),
    (REPLACEMENT, "x" * 1_000_001, {}, "invalid_argument"),
    (EDITS, [change("beta", "b")], {"operations": None}, "invalid_argument"),
    (EDITS, [change("beta", "b")], {"format": "other"}, "invalid_argument"),
]
verdicts = pytest.mark.parametrize(("tool", "proposal", "arguments", "verdict"), VERDICTS)


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


def look(caller, tool, target, proposal, arguments, verdict):
    """Preview one of the verdicts above."""
    answer = preview(caller, tool, target, proposal, **arguments)
    assert verdict in (answer["status"], answer.get("failure_reason")), answer
    return answer


def everything(admin):
    """The count and the digest of all rows of every table there is, and where each sequence is."""
    relations = admin.execute(
        "select c.relkind::text, n.nspname, c.relname from pg_class as c join pg_namespace as n"
        " on n.oid = c.relnamespace where c.relkind in ('r', 'S')"
        " and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'"
    ).fetchall()
    assert ("r", "patchdiff", "append_only_pdcp_logs") in relations
    queries = {
        "r": "select count(*), md5(string_agg(md5(t::text), '' order by md5(t::text))) from {} t",
        "S": "select last_value, is_called from {}",
    }
    return {
        tuple(place): admin.execute(
            sql.SQL(queries[kind]).format(sql.Identifier(*place))
        ).fetchone()
        for kind, *place in relations
    }


@pytest.mark.req("PREV-009", "PREV-020")
def test_no_row_of_any_table_is_written(caller, client, admin, target):
    diverged = document(caller, TEXT)["target_file_id"]
    overwrite(admin, diverged, current_content="altered")
    submit(caller, target, change("gamma", "g"), client_request_id="k")
    before = everything(admin)
    for chosen in (caller, client):
        for tool, proposal, arguments, verdict in VERDICTS:
            look(chosen, tool, target, proposal, arguments, verdict)
        look(chosen, REPLACEMENT, diverged, "new", {}, "target_diverged")
        look(chosen, REPLACEMENT, UNKNOWN_ID, "new", {}, "target_not_found")
        look(chosen, REPLACEMENT, "nonsense", "new", {}, "invalid_target_id")
    assert everything(admin) == before
    submit(caller, target, change("gamma", "g"))
    assert everything(admin) != before


@pytest.mark.req("PREV-010")
@verdicts
def test_a_locked_target_is_answered_at_once(
    database_url, target, tool, proposal, arguments, verdict
):
    with (
        psycopg.connect(database_url) as holder,
        psycopg.connect(database_url, autocommit=True, options="-c lock_timeout=1s") as other,
    ):
        holder.execute(LOCK, [target])
        caller = ServiceCaller(Service(other))
        look(caller, tool, target, proposal, arguments, verdict)
        assert holder.info.transaction_status == TransactionStatus.INTRANS


@pytest.mark.req("PREV-010")
def test_that_lock_would_stop_a_submission(database_url, client, target):
    with (
        psycopg.connect(database_url) as holder,
        psycopg.connect(database_url, autocommit=True, options="-c lock_timeout=100ms") as other,
    ):
        holder.execute(LOCK, [target])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            submit(ServiceCaller(Service(other)), target, change("beta", "b"))
        answer = preview(client, EDITS, target, [change("beta", "b")])
        assert answer["status"] == "accepted"


@pytest.mark.req("PREV-011")
@verdicts
def test_a_caller_s_transaction_stays_open_and_locks_nothing(
    database_url, admin, target, tool, proposal, arguments, verdict
):
    with psycopg.connect(database_url) as connection:
        caller = ServiceCaller(Service(connection))
        connection.execute("select 1")
        look(caller, tool, target, proposal, arguments, verdict)
        assert connection.info.transaction_status == TransactionStatus.INTRANS
        # another session can still take the lock that a submission would hold until the end
        admin.execute(LOCK + " nowait", [target])
        if verdict in ("accepted", "match_absent"):
            propose(caller, tool, target, proposal)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                admin.execute(LOCK + " nowait", [target])
        connection.rollback()


@pytest.mark.req("PREV-011")
def test_a_preview_neither_commits_nor_rolls_back(database_url, service):
    with psycopg.connect(database_url) as connection:
        caller = ServiceCaller(Service(connection))
        connection.execute("select 1")
        made = document(caller, TEXT)["target_file_id"]
        submit(caller, made, change("beta", "b"))
        for version, verdict in ((1, "accepted"), (0, "target_version_mismatch")):
            look(caller, REPLACEMENT, made, "new", {"expected_target_version": version}, verdict)
        assert service.get_target(target_file_id=made)["status"] == "not_found"
        connection.rollback()
        assert service.get_target(target_file_id=made)["status"] == "not_found"
        connection.execute("select 1")
        made = document(caller, TEXT)["target_file_id"]
        look(caller, REPLACEMENT, made, "new", {}, "accepted")
        connection.commit()
        assert service.get_target(target_file_id=made)["version"] == 0


@pytest.mark.req("PREV-009")
@verdicts
def test_a_reader_s_read_only_transaction_is_enough(
    database_url, target, tool, proposal, arguments, verdict
):
    with psycopg.connect(database_url, options="-c role=patchdiff_reader") as connection:
        connection.read_only = True
        caller = ServiceCaller(Service(connection))
        look(caller, tool, target, proposal, arguments, verdict)
        assert connection.info.transaction_status == TransactionStatus.IDLE


@pytest.mark.req("PREV-019")
def test_near_misses_come_inside_a_caller_s_transaction_too(database_url, service, target):
    outside = preview(ServiceCaller(service), EDITS, target, [change("betta", "b")])
    with psycopg.connect(database_url) as connection:
        caller = ServiceCaller(Service(connection))
        connection.execute("select 1")
        inside = preview(caller, EDITS, target, [change("betta", "b")])
        submitted = propose(caller, EDITS, target, [change("betta", "b")])
        connection.rollback()
    assert submitted["near_misses"]["omission_reason"] == "caller_transaction"
    assert inside == outside
    assert inside["near_misses"]["omission_reason"] is None
    assert [(one["start"], one["end"]) for one in inside["near_misses"]["candidates"]] == [(6, 10)]


@pytest.mark.req("PREV-015")
def test_version_hash_and_text_are_of_one_observation(database_url, caller):
    target = document(caller, "0\n")["target_file_id"]
    ended = threading.Event()

    def write():
        with psycopg.connect(database_url, autocommit=True) as connection:
            writer = ServiceCaller(Service(connection))
            version = 0
            while not ended.is_set():
                answer = propose(
                    writer, REPLACEMENT, target, f"{version + 1}\n", expected_target_version=version
                )
                assert answer["status"] == "accepted", answer
                version += 1
            return version

    seen = set()
    with ThreadPoolExecutor(1) as executor:
        writing = executor.submit(write)
        try:
            for _ in range(200):
                answer = preview(caller, EDITS, target, [change("absent", "x")])
                version = answer["current_version"]
                if version:
                    assert answer["failure_reason"] == "target_version_mismatch"
                assert answer["before_version"] == version
                assert answer["current_hash"] == answer["before_hash"] == sha256(f"{version}\n")
                for context in (answer["current_context"], answer["diagnostic"]["failure_context"]):
                    assert context["text"] == f"{version}\n"
                    assert context["observed_target_version"] == version
                    assert context["observed_target_hash"] == answer["current_hash"]
                known = preview(
                    caller,
                    EDITS,
                    target,
                    simple(EDITS, f"{version}\n", "x"),
                    expected_target_version=version,
                )
                if known["status"] == "accepted":
                    assert known["current_hash"] == answer["current_hash"]
                    assert known["current_version"] == version
                seen.add(version)
        finally:
            ended.set()
        assert writing.result(60) >= max(seen)
    assert len(seen) > 5
