"""Twenty processes on one target: one winner per version, nothing lost, no deadlock."""

from __future__ import annotations

import itertools
import multiprocessing
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import (
    ServiceCaller,
    accepted,
    attempts,
    change,
    content_of,
    document,
    ledger,
    sha256,
    submit,
)
from tests.support.stdio import StdioClient

PROCESSES = 20
ROUNDS = 2


def every_attempt(caller, target):
    """All attempts of the target, oldest first."""
    found, before = [], None
    while True:
        page = caller.call(
            "patchdiff_get_pdcp_log", target_file_id=target, limit=200, before_sequence=before
        )
        found += page["entries"]
        before = page["next_sequence"]
        if before is None:
            return found[::-1]


def run_processes(work, *arguments):
    """Run work(index, barrier, *arguments) in twenty processes at once; returns what they
    returned."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["patchdiff", "psycopg", "pytest", "hypothesis"])
    with context.Manager() as manager:
        barrier = manager.Barrier(PROCESSES)
        with context.Pool(PROCESSES) as pool:
            calls = [
                pool.apply_async(work, (index, barrier, *arguments)) for index in range(PROCESSES)
            ]
            return [call.get(timeout=120) for call in calls]


def append_tags(index, barrier, database_url, target):
    """Put ROUNDS tags of this process before the word END, reading the version anew after each
    refusal."""
    outcomes = []
    with psycopg.connect(database_url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        barrier.wait(60)
        for number in range(ROUNDS):
            while True:
                read = caller.call("patchdiff_get_target", target_file_id=target)
                edit = change("END", f"{index}.{number}\nEND")
                answer = submit(caller, target, edit, expected_target_version=read["version"])
                outcomes.append(
                    (
                        answer["status"],
                        answer.get("failure_reason"),
                        read["version"],
                        answer["pdcp_log_id"],
                    )
                )
                if answer["status"] == "accepted":
                    break
    return outcomes


@pytest.mark.req("SUBM-058", "SUBM-059", "SUBM-060", "SUBM-062", "SUBM-063")
def test_twenty_processes_lose_nothing(database_url, service):
    caller = ServiceCaller(service)
    target = document(caller, "END")["target_file_id"]
    observed: list[str] = []
    stop = threading.Event()
    observer = threading.Thread(target=observe, args=(database_url, target, stop, observed))
    observer.start()
    try:
        outcomes = [
            outcome
            for process in run_processes(append_tags, database_url, target)
            for outcome in process
        ]
    finally:
        stop.set()
        observer.join()
    assert observed == []
    assert {(status, reason) for status, reason, _, _ in outcomes} == {
        ("accepted", None),
        ("rejected", "target_version_mismatch"),
    }
    rows = every_attempt(caller, target)
    assert {row["pdcp_log_id"] for row in rows} == {log_id for *_, log_id in outcomes}
    assert len(rows) == len(outcomes)
    winners = [row for row in rows if row["status"] == "accepted"]
    total = PROCESSES * ROUNDS
    assert [row["after_version"] for row in winners] == list(range(1, total + 1))
    assert [row["before_version"] for row in winners] == list(range(total))
    guards = {log_id: version for _, _, version, log_id in outcomes}
    assert [guards[row["pdcp_log_id"]] for row in winners] == list(range(total))
    for earlier, later in itertools.pairwise(winners):
        assert earlier["after_hash"] == later["before_hash"]
    content = content_of(caller, target)
    tags = content.removesuffix("END").split()
    assert sorted(tags) == sorted(
        f"{index}.{number}" for index in range(PROCESSES) for number in range(ROUNDS)
    )
    text = "END"
    for tag, row in zip(tags, winners, strict=True):
        text = text.replace("END", f"{tag}\nEND")
        assert row["after_hash"] == sha256(text)
    assert len(ledger(caller, target)) == total


def observe(database_url, target, stop, problems):
    """Until told to stop: in one snapshot at a time, look for halves of attempts and late
    sequence numbers."""
    seen: set[int] = set()
    with psycopg.connect(database_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        while not stop.is_set():
            version, content, stored_hash = connection.execute(
                "select version, current_content, current_hash from patchdiff.cloud_target_files"
                " where target_file_id = %s",
                [target],
            ).fetchone()
            log = connection.execute(
                "select log_sequence, status, after_version, after_hash"
                " from patchdiff.append_only_pdcp_logs where target_file_id = %s"
                " order by log_sequence",
                [target],
            ).fetchall()
            ledger_versions = connection.execute(
                "select after_version from patchdiff.manifest_ledger"
                " where target_file_id = %s order by 1",
                [target],
            ).fetchall()
            connection.rollback()
            versions = list(range(1, version + 1))
            winners = [row for row in log if row[1] == "accepted"]
            if [row[2] for row in winners] != versions or [
                row[0] for row in ledger_versions
            ] != versions:
                problems.append(
                    f"version {version}, log {winners[-3:]}, ledger {ledger_versions[-3:]}"
                )
            if stored_hash != sha256(content) or (winners and winners[-1][3] != stored_hash):
                problems.append(f"content and hash differ at version {version}")
            numbers = {row[0] for row in log}
            if seen and any(number < max(seen) for number in numbers - seen):
                problems.append(f"a row appeared below {max(seen)}")
            seen = numbers


def mix(index, barrier, database_url, target, seconds):
    """Accepted edits, every kind of rejection, keyed repeats and conflicts, observed submissions,
    saves and replays, until the time is over."""
    problems, calls, observed_calls = [], 0, 0
    with psycopg.connect(database_url, autocommit=True) as connection:
        service = Service(connection)
        caller = ServiceCaller(service)
        barrier.wait(60)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            version = caller.call("patchdiff_read_target", target_file_id=target, length=1)[
                "version"
            ]
            key = f"{index}.{calls}"
            for edit, arguments, allowed in (
                (
                    change("END", "x END"),
                    {"client_request_id": key},
                    {None, "target_version_mismatch"},
                ),
                (change("END", "y END"), {"client_request_id": key}, {"context_invalid"}),
                (
                    change("END", "x END"),
                    {"client_request_id": key},
                    {None, "target_version_mismatch"},
                ),
                (change("", "z"), {}, {"protocol_invalid"}),
                (change("\ud800", "z"), {}, {"target_encoding_invalid"}),
                (change("absent", "z"), {}, {"match_absent", "target_version_mismatch"}),
                (change("END", "z"), {"expected_target_version": None}, {"context_invalid"}),
                (change("END", "z"), {"client_request_id": "shared"}, {"context_invalid"}),
            ):
                answer = submit(
                    caller, target, edit, **{"expected_target_version": version, **arguments}
                )
                calls += 1
                if answer.get("failure_reason") not in allowed or not answer["pdcp_log_id"]:
                    problems.append(str(answer))
            problems += observe_and_submit(caller, target, key)
            observed_calls += 2
            for guard in ({}, {"expected_target_version": version}):
                answer = caller.call("patchdiff_save", target_file_id=target, **guard)
                if answer.get("failure_reason") not in (None, "target_version_mismatch"):
                    problems.append(str(answer))
            replayed = caller.call("patchdiff_replay", target_file_id=target)
            if replayed.get("materialized_state_matches") is not True:
                problems.append(str(replayed))
    return calls, observed_calls, problems


def observe_and_submit(caller, target, key):
    """One observed submission in each form, under receipts of the whole text; what went wrong."""
    whole = [{"symbol_name": "<document>", "kind": "document"}]
    longer = {"op": "match", "match": "END", "replace": "x END"}
    problems = []
    for selector in ({"selections": whole}, whole[0]):
        seen = caller.call("patchdiff_observe_scope", target_file_id=target, **selector)
        if "selections" in selector:
            receipt = seen["scopes"][0]["observation_id"]
            form = {
                "observation_bundle_id": seen["observation_bundle_id"],
                "groups": [{"observation_id": receipt, "operations": [longer]}],
                "client_request_id": f"batch {key}",
            }
        else:
            form = {"observation_id": seen["observation_id"], "operations": [longer]}
        answer = caller.call(
            "patchdiff_submit_observed_operations",
            target_file_id=target,
            intent="t",
            expected_target_version=seen["target_version"],
            expected_current_hash=seen["target_current_hash"],
            **form,
        )
        if answer["status"] != "accepted" and answer["diagnostic"].get("code") not in (
            "STALE_OBSERVATION_VERSION", "OBSERVATION_CYCLE_MISMATCH"
        ):  # fmt: skip
            problems.append(str(answer))
    return problems


@pytest.mark.req("SUBM-062", "SUBM-059", "SUBM-020", "OBS-017")
def test_a_mixture_of_outcomes_never_deadlocks(database_url, service):
    caller = ServiceCaller(service)
    target = document(caller, "END")["target_file_id"]
    # the shared key belongs to a rejection, so that every other use of it is a conflict
    answer = submit(caller, target, change("absent", "x"), client_request_id="shared")
    assert answer["failure_reason"] == "match_absent"
    results = run_processes(mix, database_url, target, 4)
    assert [problem for *_, problems in results for problem in problems] == []
    calls, observed = (sum(result[place] for result in results) for place in (0, 1))
    rows = every_attempt(caller, target)
    repeats = calls // 8
    assert len(rows) == 1 + calls - repeats + observed, "one row per call, exact repeats excepted"
    versions = [row["after_version"] for row in rows if row["status"] == "accepted"]
    assert versions == list(range(1, len(versions) + 1))
    assert versions
    assert content_of(caller, target) == "x " * len(versions) + "END"


@pytest.mark.req("SUBM-058")
def test_two_servers_with_the_same_guard(database_url):
    clients = [StdioClient({"PATCHDIFF_DATABASE_URL": database_url}) for _ in range(2)]
    try:
        target = document(clients[0], "n0\n")["target_file_id"]
        for version in range(40):
            digest = sha256(f"n{version}\n")
            identifiers = [
                client.send_request(
                    "tools/call",
                    {
                        "name": "patchdiff_submit_edits",
                        "arguments": {
                            "target_file_id": target,
                            "intent": "t",
                            "edits": [change(f"n{version}", f"n{version + 1}")],
                            "expected_target_version": version,
                            "expected_current_hash": digest,
                        },
                    },
                )
                for client in clients
            ]
            answers = [
                client.read_tool(identifier).payload
                for client, identifier in zip(clients, identifiers, strict=True)
            ]
            assert sorted(answer["status"] for answer in answers) == ["accepted", "rejected"]
            (loser,) = [answer for answer in answers if answer["status"] == "rejected"]
            assert loser["failure_reason"] == "target_version_mismatch"
            assert loser["current_version"] == version + 1
        assert len(attempts(clients[0], target)) == 80
    finally:
        assert [client.close() for client in clients] == [0, 0]


@pytest.mark.req("SUBM-063")
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize(
    "waiting",
    ["accepted", "match_absent", "protocol_invalid", "target_encoding_invalid", "conflict"],
)
def test_the_number_is_drawn_under_the_lock(database_url, admin, service, waiting, warm):
    caller = ServiceCaller(service)
    target = document(caller, "a b\n")["target_file_id"]
    edit, arguments = {
        "accepted": (change("b", "d"), {}),
        "match_absent": (change("absent", "x"), {}),
        "protocol_invalid": (change("", "x"), {}),
        "target_encoding_invalid": (change("\ud800", "x"), {}),
        "conflict": (change("b", "d"), {"client_request_id": "k"}),
    }[waiting]
    name = f"waiting {uuid.uuid4()}"
    query = (
        "select count(*) from pg_stat_activity"
        " where application_name = %s and wait_event_type = 'Lock'"
    )
    with (
        psycopg.connect(database_url, autocommit=True, application_name=name) as other,
        psycopg.connect(database_url) as connection,
        ThreadPoolExecutor(1) as executor,
    ):
        waiter = ServiceCaller(Service(other))
        # a service that has just written to the target may hold its text and skip a round trip
        accepted(waiter if warm else caller, target, change("a", "c"), client_request_id="k")
        connection.execute(
            "select from patchdiff.cloud_target_files where target_file_id = %s for update",
            [target],
        )
        call = executor.submit(submit, waiter, target, edit, expected_target_version=1, **arguments)
        deadline = time.monotonic() + 20
        while admin.execute(query, [name]).fetchone()[0] == 0:
            assert not call.done(), f"it did not wait for the lock: {call.result()}"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        first = submit(
            ServiceCaller(Service(connection)),
            target,
            change("absent", "y"),
            expected_target_version=1,
        )
        assert first["failure_reason"] == "match_absent"
        connection.commit()
        answer = call.result(20)
    newest, second, _ = attempts(caller, target)
    assert second["pdcp_log_id"] == first["pdcp_log_id"]
    assert newest["pdcp_log_id"] == answer["pdcp_log_id"]
    assert newest["log_sequence"] > second["log_sequence"]
    assert answer["status"] == ("accepted" if waiting == "accepted" else "rejected")
