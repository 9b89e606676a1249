"""patchdiff_get_pdcp_log: entries, filters, paging and the content budget."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import (
    UNKNOWN_ID,
    ServiceCaller,
    accepted,
    attempts,
    change,
    document,
    keys,
    rejected,
    submit,
)

EMPTY = {"entries": [], "has_more": False, "next_sequence": None}
BUDGET = 1_048_576
NOT_POSITIVE = [0, -1, -(10**40), True, False, 1.0, 50.0, 1.5, "5", "", [], {}]


def log(caller, target, **arguments):
    return caller.call("patchdiff_get_pdcp_log", target_file_id=target, **arguments)


def sequences(page):
    return [entry["log_sequence"] for entry in page["entries"]]


@pytest.fixture(scope="module")
def busy(client):
    """A target of 205 attempts, every fifth of them accepted, and their entries' sequences,
    newest first."""
    target = document(client, "n0\n")["target_file_id"]
    version = 0
    for number in range(1, 206):
        if number % 5 == 0:
            edit = change(f"n{version}", f"n{version + 1}")
            accepted(client, target, edit, expected_target_version=version)
            version += 1
        else:
            submit(client, target, change("absent", "x"), expected_target_version=version)
    found, before = [], None
    while True:
        page = log(client, target, limit=60, before_sequence=before)
        found += page["entries"]
        before = page["next_sequence"]
        if before is None:
            return target, found


@pytest.mark.req("LOG-001")
def test_the_id_alone_is_required(client, busy):
    result = client.call_tool("patchdiff_get_pdcp_log", {"limit": 1})
    assert (result.is_error, result.payload["missing_arguments"]) == (True, ["target_file_id"])
    names = [
        "limit",
        "before_sequence",
        "status",
        "content_hash",
        "client_request_id",
        "include_content",
    ]
    assert keys(log(client, busy[0])) == keys(EMPTY)
    values = dict(zip(names, [5, 10**12, "accepted", "0" * 64, "k", True], strict=True))
    assert log(client, busy[0], **values) == EMPTY
    nulls = {**dict.fromkeys(names), "include_content": False}
    assert log(client, busy[0], **nulls) == log(client, busy[0])


@pytest.mark.req("LOG-002", "LOG-003", "LOG-004", "LOG-005", "LOG-006", "LOG-015", "LOG-016")
def test_limits(client, busy):
    target, every = busy
    assert len(every) == 205
    numbers = [entry["log_sequence"] for entry in every]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == 205
    cases = [
        (None, 50), (1, 1), (49, 49), (50, 50), (199, 199), (200, 200), (201, 200), (205, 200),
        (2**63 - 1, 200), (2**63, 200), (10**40, 200),
    ]  # fmt: skip
    for limit, size in cases:
        page = log(client, target, limit=limit)
        assert keys(page) == {"entries", "has_more", "next_sequence"}
        assert sequences(page) == numbers[:size]
        assert (page["has_more"], page["next_sequence"]) == (True, numbers[size - 1])
    assert log(client, target) == log(client, target, limit=None) == log(client, target, limit=50)
    assert {entry["status"] for entry in every} == {"accepted", "rejected"}


@pytest.mark.req("LOG-007", "LOG-009", "LOG-019", "LOG-036", "LOG-010")
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("limit", NOT_POSITIVE),
        ("before_sequence", NOT_POSITIVE),
        ("include_content", [0, 1, "true", "", None, 1.0, []]),
        (
            "status",
            [
                "",
                "Accepted",
                "ACCEPTED",
                "pending",
                "accepted ",
                5,
                True,
                ["accepted"],
                {},
                "\ud800",
                "\0",
            ],
        ),
        ("content_hash", [5, True, [], {}, "\ud800", "\0"]),
        ("client_request_id", [5, True, [], {}, "\ud800", "a\0"]),
    ],
)
def test_bad_arguments(client, busy, name, values):
    for value in values:
        page = log(client, busy[0], **{name: value})
        assert page["status"] == "invalid_argument", value
        assert name in page["failure_detail"], value
        assert {field: page[field] for field in EMPTY} == EMPTY


@pytest.mark.req("LOG-008", "LOG-009", "LOG-015", "LOG-016", "LOG-017")
def test_before_sequence_is_exclusive(client, busy):
    target, every = busy
    numbers = [entry["log_sequence"] for entry in every]
    assert sequences(log(client, target, before_sequence=numbers[3], limit=2)) == numbers[4:6]
    assert sequences(log(client, target, before_sequence=numbers[3] + 1, limit=2)) == numbers[3:5]
    for highest in (numbers[0] + 1, 2**63 - 1, 2**63, 10**40, None):
        assert sequences(log(client, target, before_sequence=highest, limit=2)) == numbers[:2]
    last = log(client, target, before_sequence=numbers[-2])
    assert (sequences(last), last["has_more"], last["next_sequence"]) == (numbers[-1:], False, None)
    assert log(client, target, before_sequence=numbers[-1]) == EMPTY
    assert log(client, target, before_sequence=1) == EMPTY


@pytest.mark.req("LOG-010", "LOG-014", "LOG-015")
def test_filters(client, busy):
    target, every = busy
    for status, count in (("accepted", 41), ("rejected", 164), (None, 205)):
        expected = [entry["log_sequence"] for entry in every if status in (None, entry["status"])]
        assert len(expected) == count
        page = log(client, target, status=status, limit=200)
        assert sequences(page) == expected[:200]
        assert page["has_more"] is (count > 200)
    page = log(client, target, status="accepted", limit=41)
    assert (len(page["entries"]), page["has_more"], page["next_sequence"]) == (41, False, None)
    page = log(client, target, status="accepted", limit=40)
    assert (len(page["entries"]), page["has_more"]) == (40, True)
    assert page["next_sequence"] == sequences(page)[-1]


@pytest.mark.req("LOG-008", "LOG-010", "LOG-011", "LOG-014", "LOG-015", "LOG-016")
@pytest.mark.parametrize("names", [["status"], ["content_hash"], ["status", "content_hash"], []])
def test_paging_under_filters(client, busy, names):
    target, every = busy
    sample = every[2]  # one of the rejected ones, which all have the same record
    filters = {"status": "rejected", "content_hash": sample["pdcp_content_hash"]}
    filters = {name: filters[name] for name in names}
    expected = [
        entry["log_sequence"]
        for entry in every
        if not names or entry["pdcp_content_hash"] == sample["pdcp_content_hash"]
    ]
    assert len(expected) == (164 if names else 205)
    found, before = [], None
    while True:
        page = log(client, target, limit=41, before_sequence=before, **filters)
        found += sequences(page)
        before = page["next_sequence"]
        assert page["has_more"] is (before is not None)
        if before is None:
            break
        assert before == found[-1]
    assert found == expected


@pytest.mark.req("LOG-011", "LOG-012", "LOG-014", "LOG-015")
def test_filters_combine(client):
    target = document(client, "a b\n")["target_file_id"]
    absent = change("absent", "x")
    first = rejected(client, target, absent, reason="match_absent")
    keyed = rejected(client, target, absent, reason="match_absent", client_request_id="Key")
    done = accepted(client, target, change("a", "b"), client_request_id="key")
    content_hash = attempts(client, target)[1]["pdcp_content_hash"]
    done_hash = attempts(client, target)[0]["pdcp_content_hash"]

    def found(**filters):
        page = log(client, target, **filters)
        assert keys(page) == keys(EMPTY)
        assert (page["has_more"], page["next_sequence"]) == (False, None)
        return [entry["pdcp_log_id"] for entry in page["entries"]]

    first, keyed, done = (answer["pdcp_log_id"] for answer in (first, keyed, done))
    assert found(content_hash=content_hash) == [keyed, first]
    assert found(content_hash=content_hash, limit=2) == [keyed, first]
    assert found(content_hash=content_hash.upper()) == found(content_hash=content_hash[:10]) == []
    assert found(content_hash="") == found(content_hash="nope") == []
    assert found(client_request_id="") == []
    assert found(client_request_id="Key") == [keyed]
    assert found(client_request_id="key") == [done]
    assert (
        found(client_request_id="ke_")
        == found(client_request_id="%")
        == found(client_request_id="key ")
        == []
    )
    assert found(client_request_id="Key", content_hash=content_hash, status="rejected") == [keyed]
    assert found(client_request_id="Key", content_hash=done_hash) == []
    assert found(client_request_id="Key", content_hash=content_hash, status="accepted") == []
    assert found(status="accepted", content_hash=done_hash) == [done]


@pytest.mark.req("LOG-017", "LOG-018", "LOG-019", "LOG-020")
def test_empty_unknown_and_malformed(client):
    target = document(client, "a")["target_file_id"]
    assert log(client, target) == EMPTY
    answer = log(client, UNKNOWN_ID)
    assert {**answer, "failure_detail": ""} == {
        "status": "not_found",
        "failure_detail": "",
        **EMPTY,
    }
    assert answer["failure_detail"]
    for value in ("", "x", UNKNOWN_ID.replace("-", ""), 5, None, True, [], "\ud800", "\0"):
        answer = log(client, value)
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
        assert {name: answer[name] for name in EMPTY} == EMPTY


@pytest.mark.req("LOG-044", "LOG-008", "LOG-016", "LOG-021")
def test_ten_attempts_in_pages_of_three(client):
    target = document(client, "a\n")["target_file_id"]
    absent = change("absent", "x")
    for _ in range(10):
        submit(client, target, absent)
    tenth, *_ = numbers = sequences(log(client, target))
    pages, before = [], None
    while True:
        page = log(client, target, limit=3, before_sequence=before)
        pages.append([10 - numbers.index(number) for number in sequences(page)])
        submit(client, target, absent)  # newer than every continuation page
        before = page["next_sequence"]
        if before is None:
            break
        assert before == sequences(page)[-1]
    assert pages == [[10, 9, 8], [7, 6, 5], [4, 3, 2], [1]]
    assert sequences(log(client, target))[4] == tenth


@pytest.mark.req("LOG-022", "LOG-021")
def test_paging_while_others_write(client, database_url):
    target = document(client, "a\n")["target_file_id"]
    for _ in range(80):
        submit(client, target, change("absent", "x"))
    stop = threading.Event()

    def write():
        with psycopg.connect(database_url, autocommit=True) as connection:
            caller = ServiceCaller(Service(connection))
            while not stop.is_set():
                submit(caller, target, change("absent", "x"))

    with ThreadPoolExecutor(1) as executor:
        writing = executor.submit(write)
        try:
            page = log(client, target, limit=10)
            newest = written = sequences(page)[0]
            found = sequences(page)
            while page["next_sequence"] is not None:
                while sequences(log(client, target, limit=1)) == [written]:
                    assert not writing.done()
                (written,) = sequences(log(client, target, limit=1))
                page = log(client, target, limit=10, before_sequence=page["next_sequence"])
                found += sequences(page)
        finally:
            stop.set()
        writing.result()
    everything, before = [], newest + 1
    while before is not None:
        page = log(client, target, limit=200, before_sequence=before)
        everything += sequences(page)
        before = page["next_sequence"]
    assert len(found) >= 80
    assert found == everything


@pytest.mark.req("LOG-043")
def test_sequences_are_drawn_over_all_targets(client):
    one, other = (document(client, "a\n")["target_file_id"] for _ in range(2))
    for target in (one, other, one, other, one):
        submit(client, target, change("absent", "x"))
    drawn = [(number, name) for name in (one, other) for number in sequences(log(client, name))]
    assert [name for _, name in sorted(drawn)] == [one, other, one, other, one]
    assert len({number for number, _ in drawn}) == 5


@pytest.mark.req("LOG-045")
@pytest.mark.parametrize(
    "setting", ["role to patchdiff_owner", "session_replication_role to replica", None]
)
@pytest.mark.parametrize(
    "statement",
    [
        "update patchdiff.append_only_pdcp_logs set intent = 'x' where target_file_id = '{0}'",
        "update patchdiff.append_only_pdcp_logs set intent = intent where target_file_id = '{0}'",
        "delete from patchdiff.append_only_pdcp_logs where target_file_id = '{0}'",
        "truncate patchdiff.append_only_pdcp_logs cascade",
    ],
)
def test_the_log_is_append_only(client, admin, statement, setting):
    target = document(client, "a\n")["target_file_id"]
    rejected(client, target, change("absent", "x"), reason="match_absent")
    before = log(client, target, include_content=True)
    with admin.transaction(force_rollback=True):
        if setting is not None:
            admin.execute(f"set local {setting}")
        with pytest.raises(psycopg.Error, match="append-only"), admin.transaction():
            admin.execute(statement.format(target))
    assert log(client, target, include_content=True) == before
