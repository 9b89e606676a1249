"""Reads by code-point offset."""

from __future__ import annotations

import pytest

from tests.support.documents import UNKNOWN_ID, document, keys, sha256

NOT_INTEGERS = [True, False, "5", "", 5.0, 0.0, 1.5, [], [1], {}]


def read(client, target, **arguments):
    return client.call("patchdiff_read_target", target_file_id=target, **arguments)


@pytest.fixture(scope="module")
def long_text():
    """12,500 code points of one, two, three and four bytes."""
    return ("a\xe9\u4e2d\U0001f600\n" * 2500)[:12500]


@pytest.fixture(scope="module")
def long_target(client, long_text):
    return document(client, long_text)["target_file_id"]


@pytest.mark.req("READ-001", "READ-002", "READ-006", "READ-007", "READ-009", "READ-010")
@pytest.mark.parametrize(
    "arguments", [{}, {"length": None}, {"start": 0}, {"start": 0, "length": None}]
)
def test_a_default_page(client, long_target, long_text, arguments):
    expected = {
        "status": "ok",
        "target_file_id": long_target,
        "version": 0,
        "current_hash": sha256(long_text),
        "start": 0,
        "end": 4000,
        "text": long_text[:4000],
        "total_chars": 12500,
        "truncated": True,
        "next_start": 4000,
    }
    answer = read(client, long_target, **arguments)
    assert answer == expected
    assert keys(answer) == keys(expected)


@pytest.mark.req("READ-001")
@pytest.mark.parametrize(
    ("total", "truncated", "next_start"),
    [(3999, False, None), (4000, False, None), (4001, True, 4000)],
)
def test_the_default_length_is_4000(client, total, truncated, next_start):
    target = document(client, "\u4e2d" * total)["target_file_id"]
    answer = read(client, target)
    assert (answer["truncated"], answer["next_start"], answer["end"]) == (
        truncated,
        next_start,
        min(total, 4000),
    )


@pytest.mark.req("READ-003")
@pytest.mark.parametrize("length", [7999, 8000, 8001, 12500, 2**31, 2**63 - 1, 2**63, 10**40])
def test_length_clamps_at_8000(client, long_target, long_text, length):
    answer = read(client, long_target, length=length)
    assert answer["text"] == long_text[: min(length, 8000)]
    assert (answer["end"], answer["next_start"]) == (min(length, 8000), min(length, 8000))


@pytest.mark.req("READ-004")
@pytest.mark.parametrize("length", [0, -1, -(10**30), *NOT_INTEGERS])
def test_bad_lengths(client, long_target, length):
    answer = read(client, long_target, length=length)
    assert answer["status"] == "invalid_argument"
    assert "length" in answer["failure_detail"]
    assert "text" not in answer


@pytest.mark.req("READ-004")
def test_length_one_is_accepted(client, long_target):
    assert read(client, long_target, length=1)["text"] == "a"


@pytest.mark.req("READ-005")
@pytest.mark.parametrize("start", [-1, -(10**30), None, *NOT_INTEGERS])
def test_bad_starts(client, long_target, start):
    answer = read(client, long_target, start=start)
    assert answer["status"] == "invalid_argument"
    assert "start" in answer["failure_detail"]


@pytest.mark.req("READ-008", "READ-007")
def test_offsets_are_code_points(client):
    text = "\U0001f600a\u4e2d\xe9b"
    target = document(client, text)["target_file_id"]
    for start, character in enumerate(text):
        answer = read(client, target, start=start, length=1)
        assert (answer["text"], answer["start"], answer["end"]) == (character, start, start + 1)
        assert answer["total_chars"] == 5


@pytest.mark.req("READ-010", "READ-011", "READ-009")
def test_truncated_and_next_start_at_the_end(client):
    target = document(client, "abcde")["target_file_id"]
    outcomes = {
        (start, length): (page["text"], page["truncated"], page["next_start"], page["total_chars"])
        for start, length in [(0, 4), (0, 5), (0, 6), (1, 3), (1, 4), (4, 1)]
        for page in [read(client, target, start=start, length=length)]
    }
    assert outcomes == {
        (0, 4): ("abcd", True, 4, 5),
        (0, 5): ("abcde", False, None, 5),
        (0, 6): ("abcde", False, None, 5),
        (1, 3): ("bcd", True, 4, 5),
        (1, 4): ("bcde", False, None, 5),
        (4, 1): ("e", False, None, 5),
    }


@pytest.mark.req("READ-012")
@pytest.mark.parametrize("length", [1, 3, None, 8000])
def test_pages_join_to_the_whole(client, long_target, long_text, length):
    text, target = long_text, long_target
    if length in (1, 3):
        text = "a\U0001f389b\u2028e\u0301\U0001f1e9\U0001f1ea\n\n"
        target = document(client, text)["target_file_id"]
    pages, start = [], 0
    while start is not None:
        page = read(client, target, start=start, length=length)
        assert page["start"] == start
        pages.append(page["text"])
        start = page["next_start"]
    assert (
        "".join(pages)
        == text
        == client.call("patchdiff_get_target", target_file_id=target)["current_content"]
    )


@pytest.mark.req("READ-013", "READ-014", "READ-007")
@pytest.mark.parametrize("text", ["", "a", "\U0001f600\u4e2d", "x\n"])
def test_start_at_the_end_and_past_it(client, text):
    target = document(client, text)["target_file_id"]
    answer = read(client, target, start=len(text))
    assert (answer["status"], answer["text"], answer["truncated"], answer["next_start"]) == (
        "ok",
        "",
        False,
        None,
    )
    assert answer["start"] == answer["end"] == answer["total_chars"] == len(text)
    for start in (len(text) + 1, 2**31, 2**63 - 1, 2**63, 10**40):
        answer = read(client, target, start=start)
        assert answer["status"] == "invalid_argument"
        assert answer["failure_detail"]


@pytest.mark.req("READ-015")
def test_an_empty_target(client):
    target = document(client, "")["target_file_id"]
    answer = read(client, target, start=0)
    assert (answer["text"], answer["total_chars"], answer["truncated"], answer["next_start"]) == (
        "",
        0,
        False,
        None,
    )


@pytest.mark.req("READ-016")
def test_an_unknown_target(client):
    answer = read(client, UNKNOWN_ID)
    assert answer["status"] == "not_found"
    assert answer["failure_detail"]


@pytest.mark.req("READ-017")
@pytest.mark.parametrize("value", ["", "x", UNKNOWN_ID + "0", 5, None, True, [], "\ud800", "\0"])
def test_a_malformed_id(client, value):
    answer = read(client, value)
    assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
