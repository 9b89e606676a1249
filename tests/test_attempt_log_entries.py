"""patchdiff_get_pdcp_log: the fields of an entry, and its record within a budget of bytes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from tests.support.documents import (
    UUID_PATTERN,
    accepted,
    change,
    document,
    keys,
    rejected,
    sha256,
    submit,
)

BUDGET = 1_048_576
EMPTY = {"entries": [], "has_more": False, "next_sequence": None}
COPY_OF_AN_ATTEMPT = """
insert into patchdiff.append_only_pdcp_logs
select (jsonb_populate_record(l, jsonb_build_object(
    'log_sequence', nextval('patchdiff.log_sequence'), 'pdcp_log_id', gen_random_uuid())
    || %s::jsonb)).*
from patchdiff.append_only_pdcp_logs as l
where l.pdcp_log_id = %s
returning log_sequence
"""


def log(caller, target, **arguments):
    return caller.call("patchdiff_get_pdcp_log", target_file_id=target, **arguments)


def sequences(page):
    return [entry["log_sequence"] for entry in page["entries"]]


def copy_of_an_attempt(admin, pdcp_log_id, **columns):
    """Store another row like this one, as an older release might have; returns its log_sequence."""
    return admin.execute(COPY_OF_AN_ATTEMPT, [json.dumps(columns), pdcp_log_id]).fetchone()[0]


@pytest.mark.req("LOG-012", "LOG-013")
@pytest.mark.parametrize("key", ["k" * 200, "sch\xf6n \u4e2d\n", "k" * 129, " tab\t", "x" * 2500])
def test_legacy_keys(client, admin, key):
    target = document(client, "a\n")["target_file_id"]
    answer = rejected(client, target, change("absent", "x"), reason="match_absent")
    sequence = copy_of_an_attempt(admin, answer["pdcp_log_id"], client_request_id=key)
    page = log(client, target, client_request_id=key)
    assert sequences(page) == [sequence]
    assert page["entries"][0]["client_request_id"] == key
    assert log(client, target, client_request_id=key[:-1]) == EMPTY


@pytest.mark.req(
    "LOG-023", "LOG-024", "LOG-025", "LOG-026", "LOG-027", "LOG-028", "LOG-029", "LOG-035",
)  # fmt: skip
def test_the_fields_of_entries(client, admin):
    target = document(client, "alpha beta\n")["target_file_id"]
    started = datetime.now(UTC)
    failed = rejected(client, target, change("gone", "x", change_id="c1"), reason="match_absent")
    done = accepted(
        client,
        target,
        change("beta", "b"),
        parent_pdcp_log_id=failed["pdcp_log_id"],
        attempt=2,
        client_request_id="retry",
    )
    second, first = log(client, target)["entries"]
    before, after = sha256("alpha beta\n"), sha256("alpha b\n")
    common = {
        "protocol_version": "patchdiff-tx/1",
        "runtime_version": "patchdiff-mvp-0.2.2",
        "before_version": 0,
    }
    expected_first = {
        **common,
        "pdcp_log_id": failed["pdcp_log_id"],
        "status": "rejected",
        "after_version": None,
        "before_hash": before,
        "after_hash": None,
        "failure_reason": "match_absent",
        "failure_detail": failed["failure_detail"],
        "failed_change_id": "c1",
        "parent_pdcp_log_id": None,
        "regeneration_attempt": None,
        "attempt": None,
        "client_request_id": None,
        "diagnostic": failed["diagnostic"],
    }
    expected_second = {
        **common,
        "pdcp_log_id": done["pdcp_log_id"],
        "status": "accepted",
        "after_version": 1,
        "before_hash": before,
        "after_hash": after,
        "failure_reason": None,
        "failure_detail": None,
        "failed_change_id": None,
        "parent_pdcp_log_id": failed["pdcp_log_id"],
        "regeneration_attempt": 2,
        "attempt": 2,
        "client_request_id": "retry",
        "diagnostic": None,
    }
    for entry, expected in ((first, expected_first), (second, expected_second)):
        assert {name: entry[name] for name in expected} == expected
        assert UUID_PATTERN.fullmatch(entry["pdcp_log_id"])
        assert re.fullmatch("[0-9a-f]{64}", entry["pdcp_content_hash"])
        assert re.fullmatch("[0-9a-f]{64}", entry["request_fingerprint"])
        assert "pdcp_content" not in entry or entry["pdcp_content"] is None
        created = datetime.fromisoformat(entry["created_at"])
        assert created.utcoffset() is not None
        assert abs((created - started).total_seconds()) < 60
    columns = {
        row[0]
        for row in admin.execute(
            "select attname from pg_attribute"
            " where attrelid = 'patchdiff.append_only_pdcp_logs'::regclass"
        )
    }
    named = keys(expected_first) - {"attempt", "diagnostic"} | {
        "log_sequence", "request_fingerprint", "pdcp_content_hash", "pdcp_content",
        "diagnostic_json", "created_at",
    }  # fmt: skip
    assert named <= columns
    query = "select diagnostic_json from patchdiff.append_only_pdcp_logs where pdcp_log_id = %s"
    assert admin.execute(query, [failed["pdcp_log_id"]]).fetchone()[0] == failed["diagnostic"]
    assert admin.execute(query, [done["pdcp_log_id"]]).fetchone()[0] is None


@pytest.mark.req("LOG-028")
def test_the_warnings_of_an_accepted_row_are_its_diagnostic(client, admin):
    target = document(client, "a\n")["target_file_id"]
    answer = accepted(client, target, change("a", "b"))
    warnings = {"warnings": ["no_op_change: x"], "warning_count": 1, "warnings_truncated": False}
    copy_of_an_attempt(
        admin, answer["pdcp_log_id"], diagnostic_json=warnings, after_version=2, before_version=1
    )
    assert [entry["diagnostic"] for entry in log(client, target)["entries"]] == [warnings, None]


def proposal_of(size):
    """An edit whose stored record, with intent "t" and an absent match, has exactly this many
    UTF-8 bytes."""
    edits = '[{"match":"absent","replace":""}]'
    record = '{"protocol":"patchdiff-tx/1","intent":"t","edits":' + edits + "}"
    room = size - len(record)
    return change("absent", "\xe9" * (room // 2) + "x" * (room % 2))


def contents(page):
    """Of each entry the bytes of its record, or why there is none."""
    found = []
    for entry in page["entries"]:
        content, omitted = entry["pdcp_content"], entry.get("pdcp_content_omitted")
        assert (content is None) is (omitted is not None)
        found.append(omitted or len(content.encode()))
    return found


@pytest.mark.req("LOG-035", "LOG-037")
def test_content_on_request(client):
    target = document(client, "a\n")["target_file_id"]
    accepted(client, target, change("a", "\u4e2d\r\n\U0001f600"))
    edits = '[{"match":"a","replace":"\u4e2d\\r\\n\U0001f600"}]'
    record = '{"protocol":"patchdiff-tx/1","intent":"t","edits":' + edits + "}"
    (entry,) = log(client, target, include_content=True)["entries"]
    assert entry["pdcp_content"] == record
    for page in (log(client, target), log(client, target, include_content=False)):
        assert page["entries"][0].get("pdcp_content") is None
        assert record not in json.dumps(page, ensure_ascii=False)


@pytest.mark.req("LOG-038", "LOG-040")
@pytest.mark.parametrize(
    ("newest", "older"), [(400_000, BUDGET - 400_000), (400_001, "page_byte_budget")]
)
def test_a_page_of_exactly_the_budget_and_one_byte_more(client, newest, older):
    target = document(client, "a\n")["target_file_id"]
    for size in (BUDGET - 400_000, newest):
        submit(client, target, proposal_of(size))
    page = log(client, target, include_content=True)
    assert contents(page) == [newest, older]
    assert (page["entries"][1]["pdcp_content"] is None) is (older == "page_byte_budget")


@pytest.mark.req("LOG-038", "LOG-039", "LOG-040", "LOG-041", "LOG-042")
def test_content_beyond_the_budget(client):
    target = document(client, "a\n")["target_file_id"]
    for size in (500, BUDGET + 300_000, 200, BUDGET - 300, 300_000, BUDGET + 1, 100):
        submit(client, target, proposal_of(size))
    numbers = sequences(log(client, target))

    def page(before=None):
        return contents(log(client, target, include_content=True, before_sequence=before))

    omitted = "page_byte_budget"
    # what is left after each returned entry is what the next ones are judged on
    assert page() == [100, omitted, 300_000, omitted, 200, omitted, 500]
    assert page(numbers[0]) == [BUDGET + 1, omitted, omitted, omitted, omitted, omitted]
    assert page(numbers[2]) == [BUDGET - 300, 200, omitted, omitted]
    for number, size in zip(
        numbers, (100, BUDGET + 1, 300_000, BUDGET - 300, 200, BUDGET + 300_000, 500), strict=True
    ):
        answer = log(client, target, include_content=True, limit=1, before_sequence=number + 1)
        assert sequences(answer) == [number]
        assert contents(answer) == [size]
