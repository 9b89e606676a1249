"""Observed submissions at once: one receipt or one version has one winner, and locks have an
order."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import ServiceCaller, attempts, content_of, row_counts, sha256
from tests.support.observations import (
    SOURCE,
    SUBMIT,
    batch,
    bundle,
    function,
    group,
    receipt,
    receipts,
    single,
    source,
    submit_accepted,
    users,
)
from tests.support.proposals import match, span
from tests.support.stdio import StdioClient


@pytest.fixture(scope="module")
def pair_of_servers(database_url):
    clients = [StdioClient({"PATCHDIFF_DATABASE_URL": database_url}) for _ in range(2)]
    yield clients
    assert [client.close() for client in clients] == [0, 0]


def at_once(clients, calls):
    """The answers to one observed submission of each server, sent before any is read."""
    identifiers = [
        client.send_request("tools/call", {"name": SUBMIT, "arguments": arguments})
        for client, arguments in zip(clients, calls, strict=True)
    ]
    return [
        client.read_tool(identifier).payload
        for client, identifier in zip(clients, identifiers, strict=True)
    ]


def one_winner(answers):
    """The accepted and the rejected answer."""
    assert sorted(answer["status"] for answer in answers) == ["accepted", "rejected"], answers
    accepted, rejected = sorted(answers, key=lambda answer: answer["status"])
    assert rejected["failure_reason"] == "context_invalid"
    return accepted, rejected


@pytest.mark.req("OBS-022", "OBS-018")
def test_two_sessions_with_one_receipt(pair_of_servers, admin):
    target = source(pair_of_servers[0])
    for version in range(15):
        observed = receipt(pair_of_servers[version % 2], target, "other")
        start = observed["scope_start"] + observed["text"].index("return") + 8
        old = observed["text"][observed["text"].index("return") + 8 : -1]
        calls = [
            single(observed, span(start, start + len(old), old, f"{name}{version}"))
            for name in "ab"
        ]
        accepted, rejected = one_winner(at_once(pair_of_servers, calls))
        assert rejected["diagnostic"]["code"] == "OBSERVATION_ALREADY_CONSUMED"
        assert accepted["version"] == version + 1
        assert users(admin, target)[observed["observation_id"]] == accepted["pdcp_log_id"]
    assert len(attempts(pair_of_servers[0], target)) == 30
    assert len(receipts(admin, target)) == 15


def agents(clients, target, names):
    """A batch of each of two agents, who observed at one version the symbols named."""
    calls = []
    for client, own, letter in zip(clients, names, "ab", strict=True):
        observed = bundle(client, target, *own)
        groups = [group(scope, match('"x', f'"{letter}')) for scope in observed["scopes"]]
        calls.append(batch(observed, groups, letter))
    return calls


def functions(number):
    return "\n".join(function(f"f{place}", 40) for place in range(number))


@pytest.mark.req("BATCH-023")
@pytest.mark.parametrize(
    "names",
    [(["f0", "f1"], ["f2", "f3"]), (["f0", "f1", "f2"], ["f2", "f1", "f3"])],
    ids=["disjoint", "overlapping"],
)
def test_two_agents_with_bundles_of_one_version(pair_of_servers, admin, names):
    text = functions(4)
    for order in ("at once", "in turn"):
        target = source(pair_of_servers[0], text)
        calls = agents(pair_of_servers, target, names)
        if order == "at once":
            answers = at_once(pair_of_servers, calls)
        else:
            answers = [
                client.call(SUBMIT, **arguments)
                for client, arguments in zip(pair_of_servers, calls, strict=True)
            ]
            assert answers[0]["status"] == "accepted"
        accepted, rejected = one_winner(answers)
        assert rejected["diagnostic"]["code"] == "STALE_OBSERVATION_VERSION"
        winner = answers.index(accepted)
        expected = text
        for name in names[winner]:
            body = function(name, 40)
            expected = expected.replace(body, body.replace('"x', f'"{"ab"[winner]}'))
        assert content_of(pair_of_servers[0], target) == expected
        used = users(admin, target)
        assert list(used.values()).count(accepted["pdcp_log_id"]) == len(names[winner])
        assert list(used.values()).count(None) == len(names[1 - winner])
        # the loser observes again, and is accepted
        observed = bundle(pair_of_servers[1 - winner], target, "f3")
        if "f3" in names[1 - winner]:
            groups = [group(observed["scopes"][0], match('"x', '"z'))]
            submit_accepted(pair_of_servers[0], batch(observed, groups, "again"))


@pytest.mark.req("BATCH-020")
def test_one_batch_sent_twice_at_once(pair_of_servers, admin):
    for _ in range(5):
        target = source(pair_of_servers[0], functions(4))
        observed = bundle(pair_of_servers[0], target, "f0", "f1")
        groups = [group(scope, match('"x', '"y')) for scope in observed["scopes"]]
        arguments = batch(observed, groups, "same")
        answers = at_once(pair_of_servers, [arguments, arguments])
        assert [answer["status"] for answer in answers] == ["accepted", "accepted"]
        assert sorted(answer["deduplicated"] for answer in answers) == [False, True]
        assert len({answer["pdcp_log_id"] for answer in answers}) == 1
        assert row_counts(admin, target)["append_only_pdcp_logs"] == 1


def test_observing_and_writing_at_once(database_url, service):
    """Every receipt that is issued while others write is of a state that there was."""
    caller = ServiceCaller(service)
    target = source(caller, functions(3))
    problems: list[str] = []
    states = {0: functions(3)}
    stop = threading.Event()

    def watch() -> None:
        with psycopg.connect(database_url, autocommit=True) as connection:
            other = ServiceCaller(Service(connection))
            while not stop.is_set():
                observed = bundle(other, target, "f0", "f2")
                text = states.get(observed["target_version"])
                seen.append(observed["target_version"])
                if text is None or sha256(text) != observed["target_current_hash"]:
                    problems.append(f"version {observed['target_version']}")
                    continue
                problems.extend(
                    scope["symbol"]["name"]
                    for scope in observed["scopes"]
                    if text[scope["scope_start"] : scope["scope_end"]] != scope["text"]
                )

    seen: list[int] = []
    watchers = [threading.Thread(target=watch) for _ in range(2)]
    for watcher in watchers:
        watcher.start()
    try:
        for version in range(1, 40):
            observed = receipt(caller, target, "f1")
            end = observed["scope_end"]
            text = states[version - 1]
            states[version] = f"{text[: end - 1]}{'y' * (version % 3)}{text[end - 1 :]}"
            grow = span(
                end - 1, end - 1, "", "y" * (version % 3),
                expected_before=text[end - 2], expected_after='"',
            )  # fmt: skip
            submit_accepted(caller, single(observed, grow))
    finally:
        stop.set()
        for watcher in watchers:
            watcher.join()
    assert problems == []
    assert len(set(seen)) > 3
    assert content_of(caller, target) == states[39]


# ---- locks


class Waiting:
    """A batch that waits for a lock, in a session of its own."""

    def __init__(self, database_url, admin, arguments):
        self.admin = admin
        self.name = f"waiting {uuid.uuid4()}"
        self.executor = ThreadPoolExecutor(1)
        self.connection = psycopg.connect(database_url, autocommit=True, application_name=self.name)
        caller = ServiceCaller(Service(self.connection))
        self.call = self.executor.submit(lambda: caller.call(SUBMIT, **arguments))
        query = (
            "select count(*) from pg_stat_activity"
            " where application_name = %s and wait_event_type = 'Lock'"
        )
        deadline = time.monotonic() + 20
        while admin.execute(query, [self.name]).fetchone() == (0,):
            assert time.monotonic() < deadline, "the submission does not wait"
            assert not self.call.done(), self.call.result()
            time.sleep(0.01)

    def free(self, target):
        """Which rows nobody has locked: whether the target, and which of its receipts."""
        targets = self.admin.execute(
            "select 1 from patchdiff.cloud_target_files where target_file_id = %s"
            " for update skip locked",
            [target],
        ).fetchall()
        found = self.admin.execute(
            "select observation_id::text from patchdiff.target_scope_observations"
            " where target_file_id = %s order by observation_id for update skip locked",
            [target],
        ).fetchall()
        return bool(targets), [row[0] for row in found]

    def answer(self):
        answer = self.call.result(20)
        self.connection.close()
        self.executor.shutdown()
        return answer


@pytest.fixture
def four(service):
    """A bundle of four receipts, and a batch that names them by descending id."""
    caller = ServiceCaller(service)
    observed = bundle(caller, source(caller, functions(4)), "f0", "f1", "f2", "f3")
    scopes = sorted(observed["scopes"], key=lambda scope: scope["observation_id"], reverse=True)
    return observed, batch(observed, [group(scope, match('"x', '"y')) for scope in scopes])


@pytest.mark.req("OBS-015")
@pytest.mark.parametrize("held", [0, 1, 2, 3])
def test_receipts_are_locked_after_the_target_by_ascending_id(
    database_url, admin, plain_connection, four, held
):
    observed, arguments = four
    target = observed["target_file_id"]
    identifiers = sorted(scope["observation_id"] for scope in observed["scopes"])
    plain_connection.execute(
        "select from patchdiff.target_scope_observations where observation_id = %s for update",
        [identifiers[held]],
    )
    waiting = Waiting(database_url, admin, arguments)
    assert waiting.free(target) == (False, identifiers[held + 1 :])
    plain_connection.rollback()
    assert waiting.answer()["status"] == "accepted"


@pytest.mark.req("OBS-015")
def test_no_receipt_is_locked_before_the_target(database_url, admin, plain_connection, four):
    observed, arguments = four
    target = observed["target_file_id"]
    plain_connection.execute(
        "select from patchdiff.cloud_target_files where target_file_id = %s for update", [target]
    )
    waiting = Waiting(database_url, admin, arguments)
    identifiers = sorted(scope["observation_id"] for scope in observed["scopes"])
    assert waiting.free(target) == (False, identifiers)
    plain_connection.rollback()
    assert waiting.answer()["status"] == "accepted"


def test_a_waiting_submission_sees_what_the_other_did(
    database_url, admin, plain_connection, service
):
    caller = ServiceCaller(service)
    target = source(caller)
    observed = receipt(caller, target, "other")
    start = SOURCE.index("two")
    arguments = single(observed, span(start, start + 3, "two", "2"))
    own = ServiceCaller(Service(plain_connection))
    plain_connection.execute("select 1")
    submit_accepted(own, arguments)
    waiting = Waiting(database_url, admin, arguments)
    plain_connection.commit()
    answer = waiting.answer()
    assert answer["diagnostic"]["code"] == "OBSERVATION_ALREADY_CONSUMED"
    again = receipt(caller, target, "other")
    arguments = single(again, span(start, start + 1, "2", "3"))
    plain_connection.execute("select 1")
    submit_accepted(own, arguments)
    waiting = Waiting(database_url, admin, arguments)
    plain_connection.rollback()
    assert waiting.answer()["status"] == "accepted"
    assert content_of(caller, target) == SOURCE.replace("two", "3")
