"""Request fingerprints: what they count, who shares them, and two senders at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from patchdiff import Service
from patchdiff.profiles import PROFILES
from tests.support.documents import (
    ServiceCaller,
    accepted,
    attempts,
    change,
    document,
    sha256,
    submit,
)
from tests.support.proposals import EDITS, TOOLS, fingerprint, propose, row_of, rows, simple
from tests.support.stdio import StdioClient

TEXT = "alpha beta\n"
BETA = change("beta", "b")
KEY = "k 1~"


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


@pytest.fixture
def target(caller):
    return document(caller, TEXT)["target_file_id"]


@pytest.mark.req("KEY-027")
@pytest.mark.parametrize("tool", TOOLS)
def test_two_processes_at_once(client, admin, database_url, tool):
    other = StdioClient({"PATCHDIFF_DATABASE_URL": database_url})
    try:
        for _ in range(15):
            target = document(client, TEXT)["target_file_id"]
            call = {"target_file_id": target, "intent": "t", "expected_target_version": 0}
            proposal = {tool.removeprefix("patchdiff_submit_"): simple(tool, TEXT, "x")}
            params = {"name": tool, "arguments": {**call, **proposal, "client_request_id": KEY}}
            sent = [(who, who.send_request("tools/call", params)) for who in (client, other)]
            answers = [who.read_tool(number).payload for who, number in sent]
            assert {answer["status"] for answer in answers} == {"accepted"}
            assert sorted(answer["deduplicated"] for answer in answers) == [False, True]
            assert len({answer["pdcp_log_id"] for answer in answers}) == 1
            assert len(rows(admin, target)) == 1
    finally:
        other.close()


@pytest.mark.req("KEY-027")
def test_ten_sessions_at_once(database_url, caller, admin):
    target = document(caller, "n=0\n")["target_file_id"]
    barrier = threading.Barrier(10)

    def session(_):
        with psycopg.connect(database_url, autocommit=True) as connection:
            barrier.wait(30)
            return submit(
                ServiceCaller(Service(connection)), target, change("n=0", "n=1"),
                client_request_id="k2",
            )  # fmt: skip

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(session, range(10)))
    assert {answer["status"] for answer in answers} == {"accepted"}
    assert sorted(answer["deduplicated"] for answer in answers) == [False, *[True] * 9]
    assert len({answer["pdcp_log_id"] for answer in answers}) == len(rows(admin, target)) == 1


@pytest.mark.req("KEY-031", "KEY-032")
@pytest.mark.parametrize("tool", TOOLS)
def test_the_fingerprint_is_recomputed_from_the_row(caller, admin, target, tool):
    proposal = simple(tool, TEXT, '\u4e2d\U0001f600"\\\n')
    calls = [
        {"expected_target_version": 5},
        {"expected_target_version": None},
        {"expected_current_hash": "f" * 64},
        {"expected_target_version": 2**63 - 1, "expected_current_hash": "0" * 64},
        {"client_request_id": KEY},
        {"client_request_id": KEY, "expected_target_version": 1},  # a conflict
    ]
    for guards in calls:
        parent = None if not rows(admin, target) else rows(admin, target)[0]["pdcp_log_id"]
        call = {"expected_target_version": 0, **guards, "parent_pdcp_log_id": parent}
        if "expected_current_hash" in guards and "expected_target_version" not in guards:
            del call["expected_target_version"]
        row = row_of(admin, propose(caller, tool, target, proposal, source="s", attempt=3, **call))
        assert row["pdcp_content_hash"] == sha256(row["pdcp_content"])
        assert row["request_fingerprint"] == sha256(row["request_envelope"])
        assert row["request_fingerprint"] == fingerprint(
            row["protocol_version"],
            row["pdcp_content_hash"],
            call.get("expected_target_version"),
            call.get("expected_current_hash"),
            row["parent_pdcp_log_id"],
        )
    assert [row["status"] for row in rows(admin, target)] == [
        *["rejected"] * 4,
        "accepted",
        "rejected",
    ]


@pytest.mark.req("KEY-033")
def test_response_mode_and_profile_do_not_change_a_fingerprint(client, database_url, caller):
    settings = [
        {"PATCHDIFF_MCP_RESPONSE_MODE": "compact"},
        {"PATCHDIFF_MCP_RESPONSE_MODE": "detailed"},
    ]
    settings += [
        {"PATCHDIFF_MCP_PROFILE": name}
        for name, profile in PROFILES.items()
        if EDITS in [tool.name for tool in profile.tools]
    ]
    for environment in settings:
        before, after = (document(caller, TEXT)["target_file_id"] for _ in range(2))
        first = accepted(client, before, BETA, client_request_id=KEY)
        other = StdioClient({"PATCHDIFF_DATABASE_URL": database_url, **environment})
        try:
            again = submit(other, before, BETA, client_request_id=KEY)
            assert (again["deduplicated"], again["pdcp_log_id"]) == (True, first["pdcp_log_id"])
            second = submit(other, after, BETA, client_request_id=KEY)
        finally:
            other.close()
        for who in (client, caller):
            again = accepted(who, after, BETA, client_request_id=KEY)
            assert (again["deduplicated"], again["pdcp_log_id"]) == (True, second["pdcp_log_id"])
        assert [len(attempts(caller, identifier)) for identifier in (before, after)] == [1, 1]
