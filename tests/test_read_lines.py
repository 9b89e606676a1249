"""Reads by line range, and what both reads owe to concurrent writers."""

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
    change,
    document,
    keys,
    overwrite,
    row_counts,
    sha256,
    stored,
)

NOT_INTEGERS = [True, False, "5", "", 5.0, 1.5, [], {}]
FIELDS = {
    "status", "target_file_id", "version", "current_hash", "total_chars", "total_lines",
    "start_line", "end_line", "range_start", "range_end", "start", "end", "text", "truncated",
    "next_offset", "next_start",
}  # fmt: skip


def read(client, target, **arguments):
    return client.call("patchdiff_read_lines", target_file_id=target, **arguments)


@pytest.fixture(scope="module")
def four_lines(client):
    """Lines at 0, 4, 5 and 9; the last one is empty."""
    return document(client, "a\U0001f600b\n\n\u4e2d\xe9c\n")["target_file_id"]


@pytest.fixture(scope="module")
def long_text():
    return "".join(f"line {number} \u4e2d\n" for number in range(1, 1500))


@pytest.fixture(scope="module")
def long_target(client, long_text):
    return document(client, long_text)["target_file_id"]


@pytest.mark.req("READ-018", "READ-019", "READ-020", "READ-023", "READ-024", "READ-025", "READ-039")
@pytest.mark.parametrize(
    "arguments", [{}, {"end_line": None}, {"start_line": 1, "end_line": 4}, {"max_chars": None}]
)
def test_the_whole_text(client, four_lines, arguments):
    text = "a\U0001f600b\n\n\u4e2d\xe9c\n"
    expected = {
        "status": "ok",
        "target_file_id": four_lines,
        "version": 0,
        "current_hash": sha256(text),
        "total_chars": 9,
        "total_lines": 4,
        "start_line": 1,
        "end_line": 4,
        "range_start": 0,
        "range_end": 9,
        "start": 0,
        "end": 9,
        "text": text,
        "truncated": False,
        "next_offset": None,
        "next_start": None,
    }
    assert read(client, four_lines, **arguments) == expected
    assert set(expected) == FIELDS


@pytest.mark.req("READ-021", "READ-022", "READ-024", "READ-028", "READ-029", "READ-046", "READ-047")
@pytest.mark.parametrize(
    ("first", "last", "text", "start", "end"),
    [
        (1, 1, "a\U0001f600b\n", 0, 4),
        (2, 2, "\n", 4, 5),
        (3, 3, "\u4e2d\xe9c\n", 5, 9),
        (4, 4, "", 9, 9),
        (2, 3, "\n\u4e2d\xe9c\n", 4, 9),
        (3, None, "\u4e2d\xe9c\n", 5, 9),
        (4, None, "", 9, 9),
    ],
)
def test_line_ranges(client, four_lines, first, last, text, start, end):
    answer = read(client, four_lines, start_line=first, end_line=last)
    assert (answer["text"], answer["truncated"]) == (text, False)
    assert (answer["range_start"], answer["range_end"], answer["start"], answer["end"]) == (
        start,
        end,
        start,
        end,
    )
    assert (answer["start_line"], answer["end_line"], answer["total_lines"]) == (
        first,
        last or 4,
        4,
    )


@pytest.mark.req("READ-025", "READ-026", "READ-027")
@pytest.mark.parametrize(
    ("text", "total_lines"),
    [
        ("", 1),
        ("a", 1),
        ("\n", 2),
        ("a\n", 2),
        ("a\nb", 2),
        ("\n\n", 3),
        ("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg", 1),
        ("a\x0cb\u2028c\x85d\ne", 2),
    ],
)
def test_line_counts(client, text, total_lines):
    target = document(client, text)["target_file_id"]
    answer = read(client, target)
    assert (answer["total_lines"], answer["end_line"], answer["text"]) == (
        total_lines,
        total_lines,
        text,
    )
    last = read(client, target, start_line=total_lines)
    assert last["text"] == text.split("\n")[-1]


@pytest.mark.req("READ-030", "READ-031", "READ-020", "READ-034", "READ-035")
@pytest.mark.parametrize(
    ("max_chars", "size"),
    [(None, 4000), (1, 1), (7999, 7999), (8000, 8000), (8001, 8000), (2**63, 8000), (10**40, 8000)],
)
def test_page_sizes(client, long_target, long_text, max_chars, size):
    for arguments in [{"max_chars": max_chars}] + ([{}] if max_chars is None else []):
        answer = read(client, long_target, start_line=2, end_line=1400, **arguments)
        begin = long_text.index("line 2 ")
        end = long_text.index("line 1401 ")
        assert answer["text"] == long_text[begin : begin + size]
        assert (answer["range_start"], answer["range_end"]) == (begin, end)
        assert (answer["start_line"], answer["end_line"], answer["total_lines"]) == (2, 1400, 1500)
        assert (answer["start"], answer["end"], answer["truncated"]) == (begin, begin + size, True)
        assert (answer["next_offset"], answer["next_start"]) == (size, begin + size)


@pytest.mark.req("READ-032", "READ-033", "READ-034", "READ-035", "READ-036", "READ-050", "READ-029")
def test_offset_counts_from_the_range(client, four_lines):
    outcomes = []
    for offset in range(6):
        answer = read(client, four_lines, start_line=2, end_line=3, offset=offset, max_chars=2)
        names = (
            "start",
            "end",
            "text",
            "truncated",
            "next_offset",
            "next_start",
            "range_start",
            "range_end",
        )
        outcomes.append(tuple(answer[name] for name in names))
    assert outcomes == [
        (4, 6, "\n\u4e2d", True, 2, 6, 4, 9),
        (5, 7, "\u4e2d\xe9", True, 3, 7, 4, 9),
        (6, 8, "\xe9c", True, 4, 8, 4, 9),
        (7, 9, "c\n", False, None, None, 4, 9),
        (8, 9, "\n", False, None, None, 4, 9),
        (9, 9, "", False, None, None, 4, 9),
    ]
    for offset in (6, 2**31, 2**63, 10**40):
        answer = read(client, four_lines, start_line=2, end_line=3, offset=offset)
        assert answer["status"] == "invalid_argument"
        assert "offset" in answer["failure_detail"]


@pytest.mark.req("READ-037", "READ-038", "READ-034", "READ-035", "READ-036")
@pytest.mark.parametrize(
    ("first", "last", "max_chars"), [(1, None, 1), (2, 3, 1), (1, 3, 3), (4, 4, 1)]
)
def test_continuation(client, four_lines, first, last, max_chars):
    whole = read(client, four_lines, start_line=first, end_line=last)
    pages, offset = [], 0
    while offset is not None:
        page = read(
            client, four_lines, start_line=first, end_line=last, offset=offset, max_chars=max_chars
        )
        assert page["start"] == page["range_start"] + offset
        pages.append(page["text"])
        offset = page["next_offset"]
        if offset is None:
            assert page["next_start"] is None
        else:
            assert page["next_start"] == page["range_start"] + offset == page["end"]
            following = client.call(
                "patchdiff_read_target", target_file_id=four_lines, start=page["next_start"]
            )
            text = "a\U0001f600b\n\n\u4e2d\xe9c\n"
            assert following["text"] == text[page["next_start"] :]
    assert "".join(pages) == whole["text"]


@pytest.mark.req("READ-039", "READ-040", "READ-041", "READ-042", "READ-043")
def test_line_starts(client, four_lines):
    def starts(**arguments):
        answer = read(client, four_lines, include_line_starts=True, **arguments)
        assert keys(answer) == FIELDS | {"line_starts"}
        return [
            (entry["line"], entry["start"])
            for entry in answer["line_starts"]
            if keys(entry) == {"line", "start"}
        ]

    assert starts() == [(1, 0), (2, 4), (3, 5), (4, 9)]
    assert starts(start_line=2, end_line=3) == [(2, 4), (3, 5)]
    assert starts(start_line=4) == [(4, 9)]
    assert starts(max_chars=4) == [(1, 0)]
    assert starts(max_chars=5) == [(1, 0), (2, 4)]
    assert starts(offset=1, max_chars=3) == []
    assert starts(offset=4, max_chars=5) == [(2, 4), (3, 5), (4, 9)]
    assert starts(offset=4, max_chars=4) == [(2, 4), (3, 5)]
    # a page that stops short of the end does not list the empty last line, the page after it does
    assert starts(offset=8, max_chars=1) == [(4, 9)]
    assert starts(offset=9) == [(4, 9)]
    # an empty final line outside the selected range is not listed
    assert starts(start_line=3, end_line=3) == [(3, 5)]
    assert keys(read(client, four_lines, include_line_starts=False)) == FIELDS


@pytest.mark.req("READ-041", "READ-043")
def test_line_starts_of_small_texts(client):
    expected = {
        "": [(1, 0)],
        "\n": [(1, 0), (2, 1)],
        "a": [(1, 0)],
        "a\x0cb\u2028c\x85d\ne": [(1, 0), (2, 8)],
    }
    for text, starts in expected.items():
        target = document(client, text)["target_file_id"]
        answer = read(client, target, include_line_starts=True)
        assert [(entry["line"], entry["start"]) for entry in answer["line_starts"]] == starts
    target = document(client, "a\n")["target_file_id"]
    first = read(client, target, include_line_starts=True, max_chars=1)
    assert (first["truncated"], first["line_starts"]) == (True, [{"line": 1, "start": 0}])
    second = read(client, target, include_line_starts=True, max_chars=1, offset=1)
    assert (second["truncated"], second["line_starts"]) == (False, [{"line": 2, "start": 2}])


@pytest.mark.req(
    "READ-044", "READ-045", "READ-046", "READ-047", "READ-048", "READ-049", "READ-051", "READ-052",
)  # fmt: skip
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("start_line", [0, -1, None, 5, 2**63, 10**40, *NOT_INTEGERS]),
        ("end_line", [0, -1, 5, 2**63, 10**40, *NOT_INTEGERS]),
        ("offset", [-1, None, 10, *NOT_INTEGERS]),
        ("max_chars", [0, -1, -(10**40), *NOT_INTEGERS]),
        ("include_line_starts", [0, 1, "true", "false", "", None, 1.0, []]),
    ],
)
def test_bad_arguments(client, four_lines, name, values):
    for value in values:
        answer = read(client, four_lines, **{name: value})
        assert answer["status"] == "invalid_argument", value
        assert name in answer["failure_detail"], value
        assert "text" not in answer


@pytest.mark.req("READ-048")
def test_a_range_that_runs_backwards(client, four_lines):
    for first, last in [(2, 1), (4, 3), (4, 1)]:
        answer = read(client, four_lines, start_line=first, end_line=last)
        assert answer["status"] == "invalid_argument"
        assert answer["failure_detail"]


@pytest.mark.req("READ-051")
def test_max_chars_one_is_accepted(client, four_lines):
    assert read(client, four_lines, offset=1, max_chars=1)["text"] == "\U0001f600"


@pytest.mark.req("READ-053")
def test_unknown_and_malformed_ids(client):
    answer = read(client, UNKNOWN_ID)
    assert answer["status"] == "not_found"
    assert answer["failure_detail"]
    for value in ("", "x", UNKNOWN_ID.replace("-", ""), 5, None, True, "\ud800", "\0"):
        answer = read(client, value)
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")


@pytest.mark.req("READ-054")
def test_a_stray_cr_in_storage_is_shown_and_kept(client, admin):
    created = document(client, "a\nb\nc")
    target, stray = created["target_file_id"], "a\rb\r\nc"
    overwrite(admin, target, current_content=stray)
    answer = read(client, target)
    assert (answer["text"], answer["total_lines"], answer["total_chars"]) == (stray, 2, 6)
    assert (answer["current_hash"], answer["version"]) == (created["current_hash"], 0)
    assert read(client, target, start_line=1, end_line=1)["text"] == "a\rb\r\n"
    kept = stored(admin, target, "current_content", "current_hash")
    assert kept == (stray, created["current_hash"])


@pytest.mark.req("READ-055")
@pytest.mark.parametrize("outcome", ["commit", "rollback"])
def test_a_read_leaves_the_callers_transaction_alone(database_url, admin, service, outcome):
    target = document(ServiceCaller(service), "a\nb")["target_file_id"]
    before = row_counts(admin)
    with psycopg.connect(database_url) as connection:
        overwrite(connection, target, filename="pending")
        answer = Service(connection).read_lines(target_file_id=target, start_line=2)
        assert (answer["status"], answer["text"]) == ("ok", "b")
        refusal = Service(connection).read_lines(target_file_id=target, start_line=3)
        assert refusal["status"] == "invalid_argument"
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        assert stored(admin, target, "filename") == ("t.txt",)
        assert stored(connection, target, "filename") == ("pending",)
        getattr(connection, outcome)()
    expected = {"commit": "pending", "rollback": "t.txt"}[outcome]
    assert stored(admin, target, "filename") == (expected,)
    assert row_counts(admin) == before


@pytest.mark.req("READ-056")
def test_a_later_page_shows_the_newer_version(client, service):
    created = document(client, "one\ntwo\nthree\n")
    target = created["target_file_id"]
    first = read(client, target, max_chars=4)
    answer = accepted(ServiceCaller(service), target, change("two", "2222"))
    second = read(client, target, max_chars=4, offset=first["next_offset"])
    third = client.call("patchdiff_read_target", target_file_id=target, start=first["next_start"])
    assert (first["version"], first["current_hash"]) == (0, created["current_hash"])
    assert (second["version"], second["current_hash"]) == (1, sha256("one\n2222\nthree\n"))
    assert (third["version"], third["current_hash"]) == (1, answer["after_hash"])
    assert (second["text"], third["text"]) == ("2222", "2222\nthree\n")


@pytest.mark.req("READ-057")
def test_one_read_is_one_observation(client, database_url):
    target = document(client, "0000 \U0001f600")["target_file_id"]
    stop = threading.Event()

    def write():
        with psycopg.connect(database_url, autocommit=True) as connection:
            caller = ServiceCaller(Service(connection))
            version = 0
            while not stop.is_set():
                edit = change(f"{version:04}", f"{version + 1:04}")
                accepted(caller, target, edit, expected_target_version=version)
                version += 1

    seen = set()
    calls = [
        ("read_lines", "text"),
        ("read_target", "text"),
        ("export_target", "content"),
        ("get_target", "current_content"),
    ]
    with ThreadPoolExecutor(1) as executor:
        writing = executor.submit(write)
        try:
            while len(seen) < 50:
                assert not writing.done()
                for tool, field in calls:
                    answer = client.call(f"patchdiff_{tool}", target_file_id=target)
                    text = answer[field]
                    assert answer["version"] == int(text[:4])
                    assert answer["current_hash"] == sha256(text)
                    seen.add(answer["version"])
        finally:
            stop.set()
        writing.result()
