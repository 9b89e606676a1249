"""Exact search."""

from __future__ import annotations

import pytest

from tests.support.documents import UNKNOWN_ID, accepted, attempts, change, document, keys, sha256

NOT_INTEGERS = [True, False, "40", "", 40.0, 1.5, [], {}]


def find(client, target, text, **arguments):
    return client.call("patchdiff_find_occurrences", target_file_id=target, text=text, **arguments)


def occurrences(content: str, text: str) -> list[int]:
    """Every start of text in content, overlapping ones included."""
    return [
        start
        for start in range(len(content) - len(text) + 1)
        if content[start : start + len(text)] == text
    ]


@pytest.mark.req("FIND-001")
def test_required_arguments(client):
    target = document(client, "x")["target_file_id"]
    for arguments, missing in [
        ({}, ["target_file_id", "text"]),
        ({"text": "x"}, ["target_file_id"]),
        ({"target_file_id": target}, ["text"]),
    ]:
        result = client.call_tool("patchdiff_find_occurrences", arguments)
        assert result.is_error is True
        assert (result.payload["code"], sorted(result.payload["missing_arguments"])) == (
            "missing_argument",
            missing,
        )


@pytest.mark.req("FIND-002", "FIND-003", "FIND-005", "FIND-006", "FIND-011", "FIND-012", "FIND-018")
def test_the_answer(client):
    text = "\U0001f600a\u4e2da\n"
    target = document(client, text)["target_file_id"]
    expected = {
        "status": "ok",
        "target_file_id": target,
        "version": 0,
        "current_hash": sha256(text),
        "occurrence_count": 2,
        "returned_count": 2,
        "start_occurrence": 1,
        "occurrences": [
            {
                "occurrence_index": 1,
                "start": 1,
                "end": 2,
                "before": "\U0001f600",
                "after": "\u4e2da\n",
            },
            {
                "occurrence_index": 2,
                "start": 3,
                "end": 4,
                "before": "\U0001f600a\u4e2d",
                "after": "\n",
            },
        ],
        "truncated": False,
        "next_occurrence_index": None,
    }
    answer = find(client, target, "a")
    assert answer == expected
    assert keys(answer) == keys(expected)


@pytest.mark.req("FIND-004", "FIND-005", "FIND-006")
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("aaaa", "aa"),
        ("aaa", "aa"),
        ("abababa", "aba"),
        ("\U0001f600" * 5, "\U0001f600\U0001f600"),
        ("\n\n\n", "\n\n"),
        ("xax", "x"),
        ("abc", "abc"),
        ("abc", "abcd"),
        ("", "a"),
        ("aXbX\nX", "X"),
    ],
)
def test_overlapping_occurrences_count(client, content, text):
    target = document(client, content)["target_file_id"]
    answer = find(client, target, text)
    starts = occurrences(content, text)
    assert answer["occurrence_count"] == answer["returned_count"] == len(starts)
    assert [
        (each["occurrence_index"], each["start"], each["end"]) for each in answer["occurrences"]
    ] == [(index, start, start + len(text)) for index, start in enumerate(starts, 1)]
    assert (answer["truncated"], answer["next_occurrence_index"]) == (False, None)


@pytest.mark.req("FIND-004")
def test_aa_in_aaaa_occurs_three_times(client):
    target = document(client, "aaaa")["target_file_id"]
    assert find(client, target, "aa")["occurrence_count"] == 3


@pytest.mark.req("FIND-005")
def test_the_search_is_over_the_current_text(client):
    target = document(client, "x x")["target_file_id"]
    answer = accepted(client, target, change("x x", "y x x x"))
    found = find(client, target, "x")
    assert (found["version"], found["current_hash"], found["occurrence_count"]) == (
        1,
        answer["after_hash"],
        3,
    )


@pytest.mark.req("FIND-007", "FIND-008", "FIND-009", "FIND-011")
@pytest.mark.parametrize(
    ("context_chars", "size"),
    [
        (None, 40),
        (0, 0),
        (1, 1),
        (39, 39),
        (40, 40),
        (399, 399),
        (400, 400),
        (401, 400),
        (10**6, 400),
        (10**40, 400),
    ],
)
def test_context_sizes(client, context_chars, size):
    before, after = "\u4e2d\U0001f600" * 300, "\xe9\n\U0001f600" * 200
    target = document(client, before + "X" + after)["target_file_id"]
    arguments = {} if context_chars is None else {"context_chars": context_chars}
    (only,) = find(client, target, "X", **arguments)["occurrences"]
    assert only["before"] == before[len(before) - size :]
    assert only["after"] == after[:size]


@pytest.mark.req("FIND-010", "FIND-013", "FIND-016")
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("context_chars", [-1, None, -(10**40), *NOT_INTEGERS]),
        ("start_occurrence", [0, -1, None, *NOT_INTEGERS]),
        ("max_results", [0, -1, None, *NOT_INTEGERS]),
    ],
)
def test_bad_numbers(client, name, values):
    target = document(client, "aaa")["target_file_id"]
    for value in values:
        answer = find(client, target, "a", **{name: value})
        assert answer["status"] == "invalid_argument", value
        assert name in answer["failure_detail"], value
        assert "occurrences" not in answer or answer["occurrences"] == []
    assert attempts(client, target) == []


@pytest.mark.req("FIND-014", "FIND-015", "FIND-017", "FIND-018", "FIND-012", "FIND-019")
def test_pages_of_250_occurrences(client):
    target = document(client, "a" * 250)["target_file_id"]

    def page(**arguments):
        answer = find(client, target, "a", **arguments)
        names = (
            "occurrence_count",
            "returned_count",
            "start_occurrence",
            "truncated",
            "next_occurrence_index",
        )
        indexes = [each["occurrence_index"] for each in answer["occurrences"]]
        assert [each["start"] + 1 for each in answer["occurrences"]] == indexes
        assert indexes == list(
            range(answer["start_occurrence"], answer["start_occurrence"] + answer["returned_count"])
        )
        return tuple(answer[name] for name in names)

    assert page() == (250, 200, 1, True, 201)
    assert page(max_results=200) == (250, 200, 1, True, 201)
    assert page(max_results=201) == (250, 200, 1, True, 201)
    assert page(max_results=10**40) == (250, 200, 1, True, 201)
    assert page(start_occurrence=201) == (250, 50, 201, False, None)
    assert page(start_occurrence=51) == (250, 200, 51, False, None)
    assert page(start_occurrence=50) == (250, 200, 50, True, 250)
    assert page(max_results=1) == (250, 1, 1, True, 2)
    assert page(start_occurrence=249, max_results=1) == (250, 1, 249, True, 250)
    assert page(start_occurrence=250, max_results=1) == (250, 1, 250, False, None)


@pytest.mark.req("FIND-017", "FIND-019")
@pytest.mark.parametrize("max_results", [1, 2, 7])
def test_paging_names_every_occurrence_once(client, max_results):
    content = "aa\U0001f600aaa\naaaa"
    target = document(client, content)["target_file_id"]
    found, start = [], 1
    while start is not None:
        answer = find(client, target, "aa", start_occurrence=start, max_results=max_results)
        assert answer["occurrence_count"] == 6
        found += [(each["occurrence_index"], each["start"]) for each in answer["occurrences"]]
        start = answer["next_occurrence_index"]
    assert found == list(enumerate(occurrences(content, "aa"), 1))


@pytest.mark.req("FIND-020")
def test_empty_text(client):
    target = document(client, "abc")["target_file_id"]
    answer = find(client, target, "")
    assert answer["status"] == "invalid_argument"
    assert "text" in answer["failure_detail"]
    assert attempts(client, target) == []


@pytest.mark.req("FIND-021")
@pytest.mark.parametrize("text", ["\r", "\r\n", "a\r\nb", "\rb"])
def test_cr_is_never_found(client, text):
    target = document(client, "a\r\nb\rc\r\n")["target_file_id"]
    answer = find(client, target, text)
    assert (answer["status"], answer["occurrence_count"], answer["occurrences"]) == ("ok", 0, [])
    assert (answer["returned_count"], answer["truncated"], answer["next_occurrence_index"]) == (
        0,
        False,
        None,
    )


@pytest.mark.req("FIND-022")
@pytest.mark.parametrize("start", [4, 5, 2**31, 2**63 - 1, 2**63, 10**40])
def test_a_start_past_the_count(client, start):
    target = document(client, "aaa")["target_file_id"]
    answer = find(client, target, "a", start_occurrence=start)
    assert (answer["status"], answer["occurrence_count"], answer["returned_count"]) == ("ok", 3, 0)
    assert (answer["occurrences"], answer["truncated"], answer["next_occurrence_index"]) == (
        [],
        False,
        None,
    )
    assert find(client, target, "a", start_occurrence=3)["returned_count"] == 1


@pytest.mark.req("FIND-023")
@pytest.mark.parametrize(
    "text", [".*", "%", "_", "a%", "\\", "\\1", "[a-z]", "^", "$", "a.c", "(?i)a", "{0}", "%s"]
)
def test_search_is_literal(client, text):
    plain = document(client, "abc a1c\nxyz\n")["target_file_id"]
    assert find(client, plain, text)["occurrence_count"] == 0
    holding = document(client, f"abc {text}\n{text}z")["target_file_id"]
    assert [each["start"] for each in find(client, holding, text)["occurrences"]] == [
        4,
        5 + len(text),
    ]


@pytest.mark.req("FIND-024")
def test_no_folding(client):
    target = document(client, "A\xe9\u2168\xdf\u0130 \u212a\uff21")["target_file_id"]
    for text in ("a", "e\u0301", "\xe8", "\u2178", "ss", "i\u0307", "K", "\u00c9"):
        assert find(client, target, text)["occurrence_count"] == 0, text
    for start, text in enumerate("A\xe9\u2168\xdf\u0130 \u212a\uff21"):
        assert [each["start"] for each in find(client, target, text)["occurrences"]] == [start], (
            text
        )


@pytest.mark.req("FIND-025")
def test_unknown_and_malformed_ids(client):
    answer = find(client, UNKNOWN_ID, "a")
    assert answer["status"] == "not_found"
    assert answer["failure_detail"]
    for value in ("", "x", UNKNOWN_ID[:-1], 5, None, True, "\ud800", "\0"):
        answer = find(client, value, "a")
        assert (answer["status"], answer["code"]) == ("invalid_argument", "invalid_target_id")
