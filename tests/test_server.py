"""The server's side of the database: lost connections, open transactions, profiles, a whole run."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from patchdiff.catalog import TOOLS
from patchdiff.protocol import Answer
from patchdiff.server import ServiceCalls
from tests.support.stdio import StdioClient

READ = TOOLS["patchdiff_get_target"]
WRITE = TOOLS["patchdiff_submit_edits"]


class Sessions:
    """Connections to the test's database, opened anew when the last one is closed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.opened: list[psycopg.Connection[Any]] = []

    def service_connection(self) -> psycopg.Connection[Any]:
        if not self.opened or self.opened[-1].closed:
            self.opened.append(psycopg.connect(self._url, autocommit=True))
        return self.opened[-1]


class Scripted:
    """A service whose every call runs the next statement of a script."""

    def __init__(self, script: list[str], connection: psycopg.Connection[Any]) -> None:
        self._script = script
        self._connection = connection

    def get_target(self) -> dict[str, Any]:
        cursor = self._connection.execute(self._script.pop(0))
        row = None if cursor.description is None else cursor.fetchone()
        return {"status": "ok", "value": None if row is None else row[0]}

    submit_edits = get_target


SUICIDE = "select pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
def sessions(database_url: str) -> Iterator[Sessions]:
    made = Sessions(database_url)
    yield made
    for connection in made.opened:
        connection.close()


@pytest.fixture
def calls(sessions: Sessions) -> Callable[..., ServiceCalls]:
    def make(*script: str) -> ServiceCalls:
        remaining = list(script)
        return ServiceCalls(sessions, lambda connection: Scripted(remaining, connection))

    return make


def unavailable(answer: Answer) -> bool:
    payload = answer.payload
    assert payload["failure_detail"]
    return answer.is_error and {**payload, "failure_detail": ""} == {
        "status": "unavailable",
        "code": "database_unavailable",
        "failure_detail": "",
        "retryable": True,
    }


def test_a_read_that_loses_its_connection_is_repeated_once(
    calls: Callable[..., ServiceCalls], sessions: Sessions
) -> None:
    perform = calls(SUICIDE, "select 1")
    assert perform(READ, {}) == Answer({"status": "ok", "value": 1})
    assert len(sessions.opened) == 2
    perform = calls(SUICIDE, SUICIDE, "select 2")
    assert unavailable(perform(READ, {}))
    assert perform(READ, {}).payload["value"] == 2


def test_a_write_that_loses_its_connection_is_not_repeated(
    calls: Callable[..., ServiceCalls],
) -> None:
    perform = calls(SUICIDE, "select 1")
    assert unavailable(perform(WRITE, {}))
    assert perform(WRITE, {}) == Answer({"status": "ok", "value": 1})


@pytest.mark.parametrize("tool", [READ, WRITE], ids=lambda tool: tool.method)
def test_a_session_that_was_ended_while_idle_is_replaced_before_the_call(
    calls: Callable[..., ServiceCalls],
    sessions: Sessions,
    admin: psycopg.Connection[Any],
    tool: Any,
) -> None:
    perform = calls("select 1", "select 2")
    assert perform(tool, {}).payload["value"] == 1
    pid = sessions.opened[-1].info.backend_pid
    admin.execute("select pg_terminate_backend(%s, 5000)", [pid])
    assert perform(tool, {}) == Answer({"status": "ok", "value": 2})
    assert len(sessions.opened) == 2


@pytest.mark.parametrize("tool", [READ, WRITE], ids=lambda tool: tool.method)
def test_an_unreachable_database_is_an_answer_after_one_try(tool: Any) -> None:
    class Nowhere:
        tries = 0

        def service_connection(self) -> psycopg.Connection[Any]:
            self.tries += 1
            raise psycopg.OperationalError("no route")

    nowhere = Nowhere()
    perform = ServiceCalls(nowhere, lambda connection: connection)
    assert unavailable(perform(tool, {}))
    assert nowhere.tries == 1
    with pytest.raises(psycopg.OperationalError):
        perform.connect()


def test_another_database_error_is_raised_and_the_connection_kept(
    calls: Callable[..., ServiceCalls], sessions: Sessions
) -> None:
    perform = calls("select 1/0", "select 1")
    with pytest.raises(psycopg.errors.DivisionByZero):
        perform(READ, {})
    assert perform(READ, {}).payload["value"] == 1
    assert len(sessions.opened) == 1


def test_no_call_begins_in_a_transaction_that_another_left_open(
    calls: Callable[..., ServiceCalls], sessions: Sessions
) -> None:
    perform = calls("begin", "select 1")
    perform(WRITE, {})
    assert sessions.opened[0].closed
    assert perform(WRITE, {}).payload["value"] == 1


def test_a_repeated_context_is_named_instead_of_sent(sessions: Sessions) -> None:
    context = {"available": True, "text": "a"}

    class Rejecting:
        def submit_edits(self) -> dict[str, Any]:
            return {
                "status": "rejected",
                "diagnostic": {"failure_context": context},
                "current_context": context,
            }

    answer = ServiceCalls(sessions, lambda _: Rejecting())(WRITE, {})
    assert not answer.is_error
    shown = answer.payload["current_context"]
    assert isinstance(shown, dict)
    assert shown["unavailable_reason"] == "same_as_failure_context"


@pytest.mark.req("MCP-003", "MCP-012", "MCP-014", "MCP-016", "MCP-017", "MCP-018")
def test_a_run_with_a_lost_database_keeps_stdout_clean(fresh_database_url: str) -> None:
    environment = {"PATCHDIFF_DATABASE_URL": fresh_database_url}
    subprocess.run(
        [sys.executable, "-m", "patchdiff.cli", "migrate"],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        timeout=60,
    )
    client = StdioClient(environment)
    target = client.call("patchdiff_initialize_target", filename="t.txt", content="a\u2028b\n")
    target_file_id = target["target_file_id"]
    with psycopg.connect(fresh_database_url, autocommit=True) as admin:
        ended = admin.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchall()
    assert ended == [(True,)]
    read = client.call("patchdiff_get_target", target_file_id=target_file_id)
    assert read["current_content"] == "a\u2028b\n"
    arguments = {"target_file_id": target_file_id, "start": "0"}
    assert client.call("patchdiff_read_target", **arguments)["status"] == "invalid_argument"
    rejected = client.call(
        "patchdiff_submit_edits",
        target_file_id=target_file_id,
        intent="none",
        edits=[{"match": "absent", "replace": ""}],
        expected_target_version=0,
    )
    assert rejected["status"] == "rejected"
    accepted = [
        client.send_request(
            "tools/call",
            {
                "name": "patchdiff_submit_edits",
                "arguments": {
                    "target_file_id": target_file_id,
                    "intent": "grow",
                    "edits": [{"match": "b", "replace": "bb", "occurrence_index": 1}],
                    "expected_target_version": version,
                },
            },
        )
        for version in range(10)
    ]
    assert client.close() == 0
    answers = [client.read_tool(request) for request in accepted]
    assert [answer.payload["status"] for answer in answers] == ["accepted"] * 10
    assert client.read_line() == b""
