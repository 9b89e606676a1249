"""patchdiff.submit_spans and patchdiff.submit_replacement: SQL alone does what the tools do."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.documents import (
    AWKWARD,
    UNKNOWN_ID,
    ServiceCaller,
    canonical,
    content_of,
    document,
    sha256,
    texts,
)
from tests.support.postgres import server_binaries
from tests.support.proposals import OPERATIONS, REPLACEMENT, fingerprint, propose, rows, span
from tests.support.psql_submissions import assert_same_outcome, comparable, submit_sql

Connection = psycopg.Connection[Any]
PAGE = Path(__file__).resolve().parents[1] / "docs" / "psql-submissions.md"


@pytest.fixture
def editor(database_url: str) -> Iterator[Connection]:
    """An autocommit connection with the rights of patchdiff_editor and no others."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("set role patchdiff_editor")
        yield connection


def wrong_sometimes(draw: st.DrawFn, text: str) -> str:
    """The text, or rarely another one."""
    return draw(st.sampled_from(AWKWARD)) if draw(st.integers(0, 14)) == 0 else text


@st.composite
def transactions(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    """A document and one to five spans, each made for the text that the earlier ones leave."""
    upload = draw(texts())
    buffer = canonical(upload)
    spans = []
    for index in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(buffer)))
        end = draw(st.integers(start, min(len(buffer), start + 9)))
        replace = draw(texts())
        fields: dict[str, Any] = {}
        if draw(st.booleans()):
            fields["change_id"] = draw(st.sampled_from([f"c{index}", None, "same"]))
        if draw(st.booleans()):
            fields["rationale"] = draw(st.none() | texts())
        if draw(st.booleans()):
            fields["risk"] = draw(st.sampled_from([None, "low", "medium", "high"]))
        before = buffer[max(0, start - draw(st.integers(1, 4))) : start]
        after = buffer[end : end + draw(st.integers(1, 4))]
        if draw(st.booleans()):
            fields["expected_before"] = wrong_sometimes(draw, before) or None
        if draw(st.booleans()):
            fields["expected_after"] = wrong_sometimes(draw, after) or None
        expected = wrong_sometimes(draw, buffer[start:end])
        if draw(st.booleans()):
            expected = expected.replace("\n", "\r\n")
        past = draw(st.integers(0, 14)) == 0
        spans.append(span(start, end + len(buffer) * past + past, expected, replace, **fields))
        buffer = buffer[:start] + canonical(replace) + buffer[end:]
    return upload, spans


@pytest.mark.req("SQL-010", "TX2-016", "TX2-034", "TX2-035", "TX2-036", "TX2-038", "TX2-039")
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(transaction=transactions(), named=st.booleans(), key=st.none() | st.just("k"))
def test_random_spans_have_the_outcome_of_the_tool(
    service: Any,
    admin: Connection,
    editor: Connection,
    transaction: tuple[str, list[dict[str, Any]]],
    named: bool,
    key: str | None,
) -> None:
    upload, spans = transaction
    caller = ServiceCaller(service)
    for_tool, for_sql = (document(caller, upload)["target_file_id"] for _ in range(2))
    by_tool = propose(caller, OPERATIONS, for_tool, spans, client_request_id=key)
    if not named:
        spans = [{name: item[name] for name in item if name != "op"} for item in spans]
    arguments = {"target_file_id": for_sql, "spans": spans, "client_request_id": key}
    by_sql = submit_sql(editor, "submit_spans", **arguments)
    assert_same_outcome(admin, caller, by_tool, by_sql)
    again = submit_sql(editor, "submit_spans", **arguments)
    assert (again["deduplicated"], again["pdcp_log_id"] == by_sql["pdcp_log_id"]) == (
        key is not None,
        key is not None,
    )


GOOD = span(0, 1, "a", "b")
WITHOUT_REPLACE = {name: value for name, value in GOOD.items() if name != "replace"}


@pytest.mark.req("SQL-010", "TX2-003", "TX2-008", "TX2-009", "TX2-012", "TX2-014", "TX2-026")
@pytest.mark.parametrize(
    "spans",
    [
        None,
        [],
        {"a": [1, 2]},
        "span",
        [None],
        [GOOD, 5],
        [GOOD | {"start": True}],
        [GOOD | {"start": 0.0}],
        [GOOD | {"start": None}],
        [GOOD | {"end": "1"}],
        [GOOD | {"end": 2**63}],
        [GOOD | {"start": -1}],
        [GOOD | {"start": 2}],
        [GOOD | {"expected_text": 1}],
        [GOOD | {"replace": ["a, b", {"c": None}]}],
        [WITHOUT_REPLACE],
        [GOOD | {"op": None}],
        [GOOD | {"op": "delete"}],
        [GOOD | {"change_id": "a b"}],
        [GOOD | {"change_id": ""}],
        [GOOD, GOOD | {"change_id": "chg_001"}],
        [GOOD | {"rationale": 1}],
        [GOOD | {"risk": "none"}],
        [GOOD | {"expected_before": ""}],
        [GOOD | {"expected_after": 0}],
        [GOOD | {"anchor_before": None}],
        [GOOD | {"unknown": {"a": [1, "b: c"]}}],
    ],
    ids=repr,
)
def test_malformed_spans_have_the_outcome_of_the_tool(
    service: Any, admin: Connection, editor: Connection, spans: Any
) -> None:
    caller = ServiceCaller(service)
    for_tool, for_sql = (document(caller, "abc")["target_file_id"] for _ in range(2))
    by_tool = propose(caller, OPERATIONS, for_tool, spans)
    by_sql = submit_sql(editor, "submit_spans", target_file_id=for_sql, spans=spans)
    assert by_sql["failure_reason"] == "protocol_invalid"
    assert_same_outcome(admin, caller, by_tool, by_sql)


REQUESTS: list[dict[str, Any]] = [
    {"expected_target_version": 0},
    {"expected_target_version": None},
    {"expected_target_version": 1},
    {"expected_target_version": -1},
    {"expected_target_version": 1, "expected_current_hash": "0" * 64},
    {"expected_current_hash": "0" * 64},
    {"expected_current_hash": "A" * 64},
    {"expected_current_hash": sha256("abc")},
    {"client_request_id": "n" * 129},
    {"client_request_id": "~ " * 64},
    {"parent_pdcp_log_id": UNKNOWN_ID},
    {"attempt": 0},
    {"attempt": 2**63 - 1, "source": "dba"},
    {"source": None},
    {"intent": None},
    {"intent": 'quo"te \\ \x01 \u2028 %s $1 \u4e2d'},
]


@pytest.mark.req("SQL-010", "SQL-011", "SQL-012")
@pytest.mark.parametrize("request_fields", REQUESTS, ids=repr)
@pytest.mark.parametrize(
    ("tool", "function", "proposal"),
    [
        (OPERATIONS, "submit_spans", [span(1, 2, "b", "x\r\n")]),
        (OPERATIONS, "submit_spans", [span(0, 1, "b", "x")]),
        (REPLACEMENT, "submit_replacement", "x\r\ny"),
        (REPLACEMENT, "submit_replacement", None),
    ],
    ids=["span", "wrong span", "replacement", "null"],
)
def test_each_request_has_the_outcome_of_the_tool(
    service: Any,
    admin: Connection,
    editor: Connection,
    tool: str,
    function: str,
    proposal: Any,
    request_fields: dict[str, Any],
) -> None:
    caller = ServiceCaller(service)
    for_tool, for_sql = (document(caller, "abc")["target_file_id"] for _ in range(2))
    by_tool = propose(caller, tool, for_tool, proposal, **request_fields)
    name = "spans" if tool == OPERATIONS else "replacement"
    by_sql = submit_sql(
        editor, function, target_file_id=for_sql, **{name: proposal}, **request_fields
    )
    assert_same_outcome(admin, caller, by_tool, by_sql)


@pytest.mark.req("SQL-010", "SQL-011", "SQL-012")
@pytest.mark.parametrize("target", [UNKNOWN_ID, "nonsense", UNKNOWN_ID.upper(), "n" * 1025])
def test_without_a_target_nothing_is_recorded(
    service: Any, admin: Connection, editor: Connection, target: str
) -> None:
    count = "select count(*) from patchdiff.append_only_pdcp_logs"
    before = admin.execute(count).fetchone()
    caller = ServiceCaller(service)
    for tool, function, arguments in (
        (OPERATIONS, "submit_spans", {"spans": [GOOD]}),
        (REPLACEMENT, "submit_replacement", {"replacement": "x"}),
    ):
        by_sql = submit_sql(editor, function, target_file_id=target, **arguments)
        assert by_sql["pdcp_log_id"] is None
        by_tool = propose(caller, tool, target, next(iter(arguments.values())))
        assert comparable(by_sql) == comparable(by_tool)
    assert admin.execute(count).fetchone() == before


LARGE = {
    "one code point": "x" * 1_000_001,
    "one byte": "\u4e2d" * 349_525 + "xy",
    "one CRLF": "\r\n" + "x" * 999_999,
    "bytes of CRLF": "\u4e2d" * 349_524 + "\r\n" * 3,
    "long and wide": "\u4e2d" * 1_000_001,
}


@pytest.mark.req(
    "SQL-012", "TX3-010", "TX3-011", "TX3-012", "TX3-013", "TX3-014", "TX3-015", "TX3-016",
    "TX3-017",
)  # fmt: skip
@pytest.mark.parametrize("replacement", LARGE.values(), ids=LARGE)
def test_a_replacement_that_is_too_large(
    service: Any, admin: Connection, editor: Connection, replacement: str
) -> None:
    caller = ServiceCaller(service)
    target = document(caller, "abc")["target_file_id"]
    arguments = {"target_file_id": target, "replacement": replacement, "client_request_id": "k"}
    by_sql = submit_sql(editor, "submit_replacement", **arguments)
    by_tool = propose(caller, REPLACEMENT, target, replacement, client_request_id="k")
    assert by_sql["code"] == "replacement_too_large"
    advice = ["failure_detail"]
    assert {k: v for k, v in by_sql.items() if k not in advice} == {
        k: v for k, v in by_tool.items() if k not in advice
    }
    assert rows(admin, target) == []
    assert content_of(caller, target) == "abc"


@pytest.mark.req("SQL-010", "SQL-012")
def test_either_route_recovers_what_the_other_recorded(service: Any, editor: Connection) -> None:
    caller = ServiceCaller(service)
    target = document(caller, "abc")["target_file_id"]
    spans = [span(1, 2, "b", "b")]
    by_tool = propose(caller, OPERATIONS, target, spans, client_request_id="tool")
    assert by_tool["warning_count"] == 2
    arguments = {"target_file_id": target, "spans": spans}
    recovered = submit_sql(editor, "submit_spans", **arguments, client_request_id="tool")
    assert recovered == by_tool | {"deduplicated": True}

    by_sql = submit_sql(
        editor,
        "submit_replacement",
        target_file_id=target,
        replacement="x\r\n",
        client_request_id="sql",
        expected_target_version=1,
    )
    assert by_sql["warnings"] == []
    recovered = propose(
        caller,
        REPLACEMENT,
        target,
        "x\r\n",
        client_request_id="sql",
        expected_target_version=1,
    )
    assert recovered == by_sql | {"deduplicated": True}


@pytest.mark.req("SQL-010", "TX2-041", "TX2-044")
def test_the_record_and_its_fingerprint(
    service: Any, admin: Connection, editor: Connection
) -> None:
    target = document(ServiceCaller(service), "a\n\u4e2d")["target_file_id"]
    fields = {
        "expected_after": None, "risk": "low", "replace": '"\\\r\n\x1f\x7f\u2028', "end": 3,
        "expected_text": "\u4e2d", "start": 2, "change_id": "c", "rationale": "\t\x08\x0c/",
        "expected_before": "\n",
    }  # fmt: skip
    answer = submit_sql(
        editor,
        "submit_spans",
        target_file_id=target,
        intent='i"',
        spans=[fields],
        expected_target_version=0,
        expected_current_hash=sha256("a\n\u4e2d"),
    )
    assert answer["status"] == "accepted"
    record = (
        '{"protocol":"patchdiff-tx/2","intent":"i\\"","operations":[{"op":"span","start":2,"end":3,'
        '"expected_text":"\u4e2d","replace":"\\"\\\\\\r\\n\\u001f\x7f\u2028","change_id":"c",'
        '"rationale":"\\t\\b\\f/","risk":"low","expected_before":"\\n","expected_after":null}]}'
    )
    [row] = rows(admin, target)
    assert row["pdcp_content"] == record
    assert row["runtime_version"] == "patchdiff-mvp-0.5.0"
    assert row["request_fingerprint"] == fingerprint(
        "patchdiff-tx/2", sha256(record), 0, sha256("a\n\u4e2d")
    )


@pytest.mark.req("SQL-010", "TX3-018")
def test_a_large_target(service: Any, editor: Connection) -> None:
    caller = ServiceCaller(service)
    text = "".join(f"{number:05} \u4e2d\u6587\u5b57\U0001f600\n" for number in range(50_000))
    target = document(caller, text)["target_file_id"]
    places = [*range(0, 49_000, 700), 49_999, *range(48_900, 0, -1_300)]
    spans, result = [], text.splitlines(keepends=True)
    for place in places:
        start = sum(map(len, result[:place]))
        old = result[place]
        result[place] = f"\u00e9{place}\n"
        spans.append(span(start, start + len(old), old, result[place]))
    wide = "\u4e2d" * 1_000_001
    spans.append(span(sum(map(len, result)), sum(map(len, result)), "", wide))
    answer = submit_sql(editor, "submit_spans", target_file_id=target, spans=spans)
    assert answer["status"] == "accepted"
    assert answer["after_hash"] == sha256("".join(result) + wide)
    assert [fact["span_start"] for fact in answer["evidence"]["changes"]] == [
        item["start"] for item in spans
    ]


@pytest.mark.req("SQL-010", "SQL-019")
def test_a_submission_waits_for_the_one_before_it(
    service: Any, database_url: str, editor: Connection
) -> None:
    target = document(ServiceCaller(service), "abc")["target_file_id"]
    answers: list[dict[str, Any]] = []

    def second() -> None:
        arguments = {"target_file_id": target, "spans": [span(0, 1, "a", "y")]}
        answers.append(submit_sql(editor, "submit_spans", **arguments))

    with psycopg.connect(database_url) as first:
        arguments = {"target_file_id": target, "replacement": "x"}
        assert submit_sql(first, "submit_replacement", **arguments)["status"] == "accepted"
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        first.commit()
        thread.join(30)
    [answer] = answers
    assert (answer["failure_reason"], answer["current_version"]) == ("target_version_mismatch", 1)


@pytest.mark.req("SQL-012")
def test_a_reader_may_not_submit(service: Any, admin: Connection) -> None:
    target = document(ServiceCaller(service), "abc")["target_file_id"]
    admin.execute("set role patchdiff_reader")
    for function, arguments in (
        ("submit_spans", {"spans": [GOOD]}),
        ("submit_replacement", {"replacement": "x"}),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            submit_sql(admin, function, target_file_id=target, **arguments)


@pytest.mark.req("SQL-010", "SQL-011", "SQL-012")
def test_the_tour_works_when_pasted(database_url: str) -> None:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("\n```sql\n")
    psql = server_binaries("18") / "psql"
    command = [psql, "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database_url, "-f", "-"]
    tour = subprocess.run(
        command,
        input="set role patchdiff_editor;\n" + rest.partition("\n```\n")[0],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (tour.returncode, tour.stderr) == (0, "")
    lines = tour.stdout.splitlines()
    assert lines[0] == "SET"
    assert set(lines[1:4]) == {"status|accepted", "version|1", "manifest_entries_added|2"}
    assert lines[4] == "accepted"
    assert '    "actual_text": "\\nbet",' in lines
    assert lines[-5:] == [
        "accepted",
        "accepted|Another letter|patchdiff-mvp-0.4.0",
        "rejected|Beta|patchdiff-mvp-0.3.0",
        "accepted|Delta|patchdiff-mvp-0.5.0",
        "accepted|Greek capitals|patchdiff-mvp-0.3.0",
    ]
