"""near_misses of answers: when they are computed, from what, what is left out, nothing stored."""

from __future__ import annotations

import json
import random

import psycopg
import pytest

from patchdiff import Service, near_misses
from tests.support.documents import (
    ServiceCaller,
    accepted,
    attempts,
    change,
    content_of,
    document,
    rejected,
    state,
    submit,
)
from tests.support.near_misses import (
    places,
    qualifying,
    random_case,
    sentences,
    without_overlaps,
)
from tests.support.proposals import (
    EDITS,
    OPERATIONS,
    json_bytes,
    match,
    propose,
    record_older_diagnostic,
    row_of,
    rows,
    span,
)

KEY = "k"
SCAN_FIELDS = (
    "scan_source", "scanned_start", "scanned_end", "scope_truncated", "candidates_truncated",
    "truncated",
)  # fmt: skip
ASTRAL = "\U0001f600"


@pytest.fixture
def caller(service):
    return ServiceCaller(service)


def absent(caller, text, query, **arguments):
    target = document(caller, text)["target_file_id"]
    return rejected(caller, target, change(query, "x"), reason="match_absent", **arguments)


def found(answer):
    return [
        (item["start"], item["end"], item["distance"], item["text"])
        for item in answer["near_misses"]["candidates"]
    ]


@pytest.mark.req("NEAR-001", "NEAR-004", "NEAR-037", "EVID-074")
def test_where_near_misses_stand(client, admin):
    target = document(client, "speed 12\xa0km\n")["target_file_id"]
    answer = rejected(client, target, change("12 km", "13 km"), reason="match_absent")
    assert answer["near_misses"] == {
        "candidates": [
            {"distance": 1, "start": 6, "end": 11, "text": "12\xa0km", "before": "speed ",
             "after": "\n"}
        ],
        "omission_reason": None,
        "scan_source": "failing_buffer",
        "scanned_start": 0,
        "scanned_end": 12,
        "comparison_cells": answer["near_misses"]["comparison_cells"],
        "scope_truncated": False,
        "candidates_truncated": False,
        "truncated": False,
    }  # fmt: skip
    assert answer["diagnostic"]["near_miss_query"] == {"query": "12 km", "omission_reason": None}
    row = row_of(admin, answer)
    assert row["diagnostic_json"] == answer["diagnostic"]
    assert "near_misses" not in json.dumps(row)
    assert "near_misses" not in json.dumps(attempts(client, target))
    assert answer["diagnostic"]["retryable"] is True


@pytest.mark.req("NEAR-001")
@pytest.mark.parametrize(
    "edits",
    [
        [change("a", "x")], [change("a", "x", occurrence_index=9)], [], [change("b", "x")],
        [change("a\0", "")],
    ],
)  # fmt: skip
def test_other_answers_have_none(caller, edits):
    target = document(caller, "a a b")["target_file_id"]
    answer = submit(caller, target, *edits)
    assert "near_misses" not in answer
    assert "near_miss_query" not in answer.get("diagnostic", {})
    stale = submit(caller, target, change("c", "x"), expected_target_version=9)
    assert "near_misses" not in stale
    assert "near_misses" not in propose(caller, OPERATIONS, target, [span(9, 9, "", "")])


TABBED = "def f():\n\treturn 1\n\ndef g():\n\treturn 2\n"


@pytest.mark.req("NEAR-018", "NEAR-014", "NEAR-036")
@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        (TABBED, "    return 1", []),
        (TABBED, "   return 1", []),
        (TABBED, "  return 1", [(8, 18, 2, "\n\treturn 1")]),
        (TABBED, " return 1", [(9, 18, 1, "\treturn 1"), (29, 37, 2, "\treturn ")]),
        ("alpha\n   beta_line\ngamma\n", "    beta_line", [(5, 18, 1, "\n   beta_line")]),
        ("begin\nAAA\nend\n", "begin\nBBBBBBBB\nend\n", []),
        (f"{ASTRAL}ab", "aX", [(1, 2, 1, "a")]),
        ("", "abc", []),
    ],
)
def test_what_is_suggested(caller, text, query, expected):
    answer = absent(caller, text, query)
    assert found(answer) == expected
    hint = answer["near_misses"].get("hint")
    assert (hint is not None) is (not expected)
    assert hint is None or "patchdiff_find_occurrences" in hint


@pytest.mark.req("NEAR-021", "NEAR-037", "NEAR-014", "NEAR-015", "NEAR-016", "NEAR-034")
def test_answers_agree_with_the_exhaustive_scorer(caller):
    generator = random.Random(7)
    seen = 0
    for _ in range(60):
        text, query = random_case(generator, f"abc{ASTRAL}\u0301", 50)
        if query in text or not query:
            continue
        seen += 1
        answer = absent(caller, text, query)
        best = without_overlaps(qualifying(text, query))
        assert places(answer["near_misses"]) == best[:3]
        assert answer["near_misses"]["candidates_truncated"] is (len(best) > 3)
    assert seen > 20


@pytest.mark.req("NEAR-002")
@pytest.mark.parametrize("autocommit", [True, False])
@pytest.mark.parametrize("held", [True, False])
def test_the_scan_comes_after_commit_and_lock(
    database_url, admin, caller, monkeypatch, autocommit, held
):
    target = document(caller, "alpha beta")["target_file_id"]
    seen = []
    scan = near_misses.scan

    def watched(*arguments, **options):
        with psycopg.connect(database_url) as other:
            other.execute(
                "select 1 from patchdiff.cloud_target_files where target_file_id = %s"
                " for update nowait",
                [target],
            )
        seen.append([row["failure_reason"] for row in rows(admin, target)][-1])
        return scan(*arguments, **options)

    with psycopg.connect(database_url, autocommit=autocommit) as connection:
        own = ServiceCaller(Service(connection))
        version = 0
        if held:  # the service then has the text in hand and takes the short way
            accepted(own, target, change("beta", "beta"))
            version = 1
        monkeypatch.setattr(near_misses, "scan", watched)
        for _ in range(2):
            answer = submit(
                own, target, change("alpha bqta", "x"), expected_target_version=version,
                client_request_id=KEY,
            )  # fmt: skip
            assert found(answer) == [(0, 10, 1, "alpha beta")]
    assert seen == ["match_absent"] * 2


@pytest.mark.req("EVID-078")
@pytest.mark.parametrize("over_mcp", [False, True])
def test_an_error_after_the_commit_is_raised(database_url, admin, caller, monkeypatch, over_mcp):
    from patchdiff.catalog import TOOLS
    from patchdiff.server import ServiceCalls

    def broken(*arguments, **options):
        raise ZeroDivisionError("broken by the test")

    target = document(caller, "alpha")["target_file_id"]
    call = {
        "target_file_id": target, "intent": "t", "edits": [change("alqha", "x")],
        "expected_target_version": 0, "client_request_id": KEY,
    }  # fmt: skip
    monkeypatch.setattr(near_misses, "scan", broken)
    with psycopg.connect(database_url, autocommit=True) as connection:

        class Connections:
            def service_connection(self):
                return connection

        def perform():
            if over_mcp:
                return ServiceCalls(Connections(), Service)(TOOLS[EDITS], call)
            return Service(connection).submit_edits(**call)

        with pytest.raises(ZeroDivisionError) as caught:
            perform()
    assert "roll" not in str(caught.value)
    [row] = rows(admin, target)
    assert (row["failure_reason"], row["client_request_id"]) == ("match_absent", KEY)
    monkeypatch.undo()
    again = propose(caller, EDITS, target, call["edits"], client_request_id=KEY)
    assert (again["deduplicated"], again["pdcp_log_id"]) == (True, row["pdcp_log_id"])
    assert found(again) == [(0, 5, 1, "alpha")]


@pytest.mark.req("NEAR-003")
def test_a_callers_transaction_gets_none(database_url, caller):
    target = document(caller, "alpha")["target_file_id"]
    for autocommit in (True, False):
        with psycopg.connect(database_url, autocommit=autocommit) as connection:
            own = ServiceCaller(Service(connection))
            with connection.transaction():
                for _ in range(2):  # a fresh one, then its recovery
                    answer = submit(own, target, change("alqha", "x"), client_request_id=KEY)
                    assert answer["failure_reason"] == "match_absent"
                    assert answer["near_misses"]["omission_reason"] == "caller_transaction"
                    assert answer["near_misses"]["candidates"] == []
                    stored = answer["diagnostic"]["near_miss_query"]
                    assert stored == {"query": "alqha", "omission_reason": None}
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            # committed by now: the recovery may look
            answer = submit(own, target, change("alqha", "x"), client_request_id=KEY)
            assert found(answer) == [(0, 5, 1, "alpha")]


@pytest.mark.req("NEAR-006", "NEAR-018", "NEAR-032", "NEAR-005")
def test_a_recovery_scans_the_stored_context_alone(caller):
    text = "x" * 100 + "needle one\n" + "y" * 500 + "nexdle ane\n" + "z" * 70_000 + "needlz one\n"
    target = document(caller, text)["target_file_id"]
    call = {"client_request_id": KEY}
    first = rejected(caller, target, change("neqdle one", ""), reason="match_absent", **call)
    assert found(first)[0] == (100, 110, 1, "needle one")
    assert [item[:3] for item in found(first)] == [(100, 110, 1), (611, 621, 2)]
    assert {name: first["near_misses"][name] for name in SCAN_FIELDS} == {
        "scan_source": "failing_buffer", "scanned_start": 0, "scanned_end": 65_536,
        "scope_truncated": True, "candidates_truncated": False, "truncated": True,
    }  # fmt: skip
    accepted(caller, target, change("needle one", "other"))
    again = submit(caller, target, change("neqdle one", ""), **call)
    assert again["deduplicated"] is True
    assert found(again) == [(100, 110, 1, "needle one")]
    assert {name: again["near_misses"][name] for name in SCAN_FIELDS} == {
        "scan_source": "stored_failure_context", "scanned_start": 0, "scanned_end": 256,
        "scope_truncated": True, "candidates_truncated": False, "truncated": True,
    }  # fmt: skip


@pytest.mark.req("NEAR-006", "NEAR-018", "NEAR-032")
def test_a_recovered_scan_of_a_stored_window_has_absolute_offsets(caller, admin):
    target = document(caller, "n" * 500)["target_file_id"]
    call = {"client_request_id": KEY}
    first = rejected(caller, target, change("needle", ""), reason="match_absent", **call)
    context = first["diagnostic"]["failure_context"]
    window = {
        **context, "selection": "failure_window", "start": 300, "end": 318, "total_chars": 500,
        "text": "....a neeqle here.",
    }  # fmt: skip
    record_older_diagnostic(admin, first, {**first["diagnostic"], "failure_context": window})
    again = submit(caller, target, change("needle", ""), **call)
    assert found(again) == [(306, 312, 1, "neeqle")]
    similar = again["near_misses"]
    assert (similar["scanned_start"], similar["scanned_end"]) == (300, 318)
    assert similar["scope_truncated"] is True
    assert similar["candidates"][0]["before"] == "....a "


@pytest.mark.req("NEAR-007")
def test_the_searched_buffer_is_stored_nowhere(caller, admin):
    text = "p" * 300 + "left|" + "q" * 10 + "|right" + "r" * 100
    target = document(caller, text)["target_file_id"]
    edits = [change("|qqqqqqqqqq|", ""), change("lefqright", "x")]
    answer = rejected(caller, target, *edits, reason="match_absent")
    assert found(answer)[0] == (300, 309, 1, "leftright")
    tables = admin.execute(
        "select relname from pg_class where relnamespace = 'patchdiff'::regnamespace"
        " and relkind = 'r'"
    ).fetchall()
    assert len(tables) > 5
    for (table,) in tables:
        query = f"select count(*) from patchdiff.{table} as t where t::text like '%leftright%'"
        assert admin.execute(query).fetchone() == (0,), table


@pytest.mark.req("NEAR-030")
@pytest.mark.parametrize("kept", ["neither", "query", "context"])
def test_a_recovery_without_stored_inputs(caller, admin, kept):
    target = document(caller, "alpha")["target_file_id"]
    call = {"client_request_id": KEY}
    first = rejected(caller, target, change("alqha", ""), reason="match_absent", **call)
    older = dict(first["diagnostic"])
    if kept != "query":
        del older["near_miss_query"]
    if kept != "context":
        del older["failure_context"]
    record_older_diagnostic(admin, first, older)
    again = submit(caller, target, change("alqha", ""), **call)
    assert again["deduplicated"] is True
    assert again["near_misses"]["omission_reason"] == "historical_context_unavailable"
    assert again["near_misses"]["candidates"] == []
    assert again["diagnostic"] == older


@pytest.mark.req("NEAR-031", "EVID-074", "EVID-075", "EVID-076")
@pytest.mark.parametrize(
    ("query", "stored"),
    [
        (ASTRAL * 63 + "b", ASTRAL * 63 + "b"),
        (ASTRAL * 64 + "b", None),
        ("\r\n" * 32, "\n" * 32),
        ("\r\n" * 32 + "b", None),
        ("b" * 65, None),
        ("b", "b"),
    ],
)
def test_a_long_query_is_not_stored(caller, admin, query, stored):
    answer = absent(caller, ASTRAL * 70, query, client_request_id=KEY)
    expected = {
        "query": stored,
        "omission_reason": "match_too_large" if stored is None else None,
    }
    assert answer["diagnostic"]["near_miss_query"] == expected
    assert json_bytes({"near_miss_query": expected}) <= 1_024
    assert row_of(admin, answer)["diagnostic_json"]["near_miss_query"] == expected
    again = submit(caller, answer["target_file_id"], change(query, "x"), client_request_id=KEY)
    assert again["deduplicated"] is True
    for similar in (answer["near_misses"], again["near_misses"]):
        assert similar["omission_reason"] == expected["omission_reason"]
        assert (similar["scan_source"] is None) is (stored is None)


@pytest.mark.req("NEAR-004", "NEAR-018")
def test_a_match_operation_after_others_is_searched_in_the_failing_buffer(caller):
    target = document(caller, "one two three")["target_file_id"]
    operations = [span(0, 0, "", "\r\nzero "), match("two", "2"), match("thxee", "3")]
    answer = propose(caller, OPERATIONS, target, operations)
    assert answer["failure_reason"] == "match_absent"
    assert found(answer) == [(12, 17, 1, "three")]
    assert answer["near_misses"]["scanned_end"] == 17


@pytest.mark.req("NEAR-004", "NEAR-005", "NEAR-033")
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (65_526, [(65_526, 65_536, 1, "0123456789")]),
        (65_527, [(65_527, 65_536, 2, "012345678")]),
        (65_536, []),
    ],
)
def test_the_first_65536_code_points_are_searched(caller, before, expected):
    text = sentences(random.Random(3), before) + "0123456789" + "!" * 20
    answer = absent(caller, text, "0123#56789")
    assert found(answer) == expected
    assert answer["near_misses"]["scope_truncated"] is True
    assert answer["near_misses"]["scanned_end"] == 65_536


@pytest.mark.req("NEAR-037")
def test_near_misses_never_change_the_verdict(caller, monkeypatch):
    target = document(caller, "alpha")["target_file_id"]
    before = state(caller, target)
    answers = []
    for replace in (
        near_misses.scan,
        lambda *_, **__: near_misses.omitted("work_budget_exhausted"),
    ):
        monkeypatch.setattr(near_misses, "scan", replace)
        answers.append(submit(caller, target, change("alqha", "x")))
    assert answers[0]["near_misses"] != answers[1]["near_misses"]
    for answer in answers:
        del answer["near_misses"], answer["pdcp_log_id"]
    assert answers[0] == answers[1]
    assert answers[0]["failure_reason"] == "match_absent"
    assert state(caller, target) == before
    assert content_of(caller, target) == "alpha"
