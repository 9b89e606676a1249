"""Near misses as an answer carries them: fields, ranges, bounds and byte budgets."""

from __future__ import annotations

import random
from typing import Any

import pytest

from patchdiff.near_misses import near_miss_query, omitted, scan
from tests.support.near_misses import (
    ASTRAL,
    places,
    size,
    whole,
)

KEYS = {
    "candidates",
    "omission_reason",
    "scan_source",
    "scanned_start",
    "scanned_end",
    "comparison_cells",
    "scope_truncated",
    "candidates_truncated",
    "truncated",
}


@pytest.mark.req("NEAR-036")
@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("def f():\n\treturn 1\n\ndef g():\n\treturn 2\n", "    return 1", []),
        ("def f():\n\treturn 1\n\ndef g():\n\treturn 2\n", "   return 1", []),
        ("def f():\n\treturn 1\n\ndef g():\n\treturn 2\n", "  return 1", [(2, 8, 18)]),
        (
            "def f():\n\treturn 1\n\ndef g():\n\treturn 2\n",
            " return 1",
            [(1, 9, 18), (2, 29, 37)],
        ),
        ("speed 12\u00a0km\n", "12 km", [(1, 6, 11)]),
        ("alpha\n   beta_line\ngamma\n", "    beta_line", [(1, 5, 18)]),
        ("begin\nAAA\nend\n", "begin\nBBBBBBBB\nend\n", []),
    ],
)
def test_known_mismatches(text: str, query: str, expected: list[tuple[int, int, int]]) -> None:
    result = whole(text, query)
    assert places(result) == expected
    assert [found["text"] for found in result["candidates"]] == [
        text[start:end] for _, start, end in expected
    ]
    assert ("hint" in result) == (not expected)
    if not expected:
        assert "patchdiff_find_occurrences" in result["hint"]


@pytest.mark.req("NEAR-014", "NEAR-015", "NEAR-016", "NEAR-034", "NEAR-035")
@pytest.mark.parametrize(
    ("copies", "listed", "truncated"), [(2, 2, False), (3, 3, False), (4, 3, True)]
)
def test_a_fourth_place_is_reported_as_left_out(copies: int, listed: int, truncated: bool) -> None:
    text = "".join(f"{number}abcdefgh!jkl{number}" for number in range(copies))
    result = whole(text, "abcdefghijkl")
    assert places(result) == [(1, 1 + 14 * number, 13 + 14 * number) for number in range(listed)]
    assert result["candidates_truncated"] is truncated
    assert result["truncated"] is truncated
    assert result["scope_truncated"] is False


@pytest.mark.req("NEAR-017", "NEAR-018", "NEAR-019", "NEAR-032")
@pytest.mark.parametrize("before", [0, 1, 15, 16, 17, 40])
@pytest.mark.parametrize("after", [0, 1, 15, 16, 17, 40])
@pytest.mark.parametrize("offset", [0, 1_000])
def test_a_candidate_with_its_context(before: int, after: int, offset: int) -> None:
    left, right = (ASTRAL + "1") * 20, ("2" + ASTRAL) * 20
    text = left[len(left) - before :] + "abcd!fgh" + right[:after]
    result = scan(
        text,
        "abcdefgh",
        offset=offset,
        total_chars=offset + len(text),
        scan_source="stored_failure_context",
    )
    assert isinstance(result.pop("comparison_cells"), int)
    assert result == {
        "candidates": [
            {
                "distance": 1,
                "start": offset + before,
                "end": offset + before + 8,
                "text": "abcd!fgh",
                "before": left[len(left) - min(16, before) :],
                "after": right[: min(16, after)],
            }
        ],
        "omission_reason": None,
        "scan_source": "stored_failure_context",
        "scanned_start": offset,
        "scanned_end": offset + len(text),
        "scope_truncated": offset > 0,
        "candidates_truncated": False,
        "truncated": offset > 0,
    }


@pytest.mark.req("NEAR-018", "NEAR-032", "NEAR-033", "NEAR-035")
@pytest.mark.parametrize(
    ("offset", "total", "truncated"),
    [(0, 12, False), (0, 13, True), (1, 13, True), (300, 312, True), (300, 400, True)],
)
def test_a_scan_of_a_part_says_so(offset: int, total: int, truncated: bool) -> None:
    """What was searched is the part of twelve code points that begins at the offset."""
    result = scan(
        "..abcd!fgh..",
        "abcdefgh",
        offset=offset,
        total_chars=total,
        scan_source="stored_failure_context",
    )
    assert places(result) == [(1, offset + 2, offset + 10)]
    assert (result["scanned_start"], result["scanned_end"]) == (offset, offset + 12)
    assert result["scope_truncated"] is truncated
    assert result["truncated"] is truncated
    assert result["candidates_truncated"] is False


@pytest.mark.req("NEAR-033")
def test_an_empty_buffer_is_searched_completely() -> None:
    result = whole("", "abc")
    assert (result["scanned_start"], result["scanned_end"]) == (0, 0)
    assert result["comparison_cells"] == 0
    assert (result["scope_truncated"], result["truncated"]) == (False, False)
    assert "patchdiff_find_occurrences" in result["hint"]


@pytest.mark.req("NEAR-004", "NEAR-005", "NEAR-032", "NEAR-033", "NEAR-035")
@pytest.mark.parametrize(
    ("start", "found"),
    [(0, True), (65_527, True), (65_528, False), (65_535, False), (65_536, False)],
)
@pytest.mark.parametrize("filling", [".", ASTRAL])
def test_only_the_first_65_536_code_points_are_searched(
    start: int, found: bool, filling: str
) -> None:
    text = (filling * start + "abcdX!hi~" + filling * 65_546)[:65_546]
    result = whole(text, "abcdefhi~")
    assert places(result) == ([(2, start, start + 9)] if found else [])
    assert (result["scanned_end"], result["scan_source"]) == (65_536, "failing_buffer")
    assert (result["scope_truncated"], result["truncated"]) == (True, True)
    if found:
        assert result["candidates"][0]["after"] == text[start + 9 : min(65_536, start + 25)]


@pytest.mark.req("NEAR-004", "NEAR-033")
def test_a_buffer_of_65_536_code_points_is_searched_completely() -> None:
    result = whole("." * 65_536, "abcdefgh")
    assert (result["scanned_end"], result["scope_truncated"]) == (65_536, False)
    assert result["truncated"] is False


@pytest.mark.req("NEAR-016", "NEAR-020")
@pytest.mark.parametrize("letter", [ASTRAL, "\x01", "\u4e2d"])
def test_three_candidates_of_the_longest_query_fit_whole(letter: str) -> None:
    """The query and its surroundings are made of the characters with the longest escapes."""
    text = (letter * 20 + "~" + letter * 43 + "~" * 90) * 3
    result = whole(text, letter * 64)
    assert len(result["candidates"]) == 3
    assert result["candidates_truncated"] is False
    assert size({"near_misses": result}) <= 8_192


@pytest.mark.req("NEAR-020", "NEAR-034", "NEAR-035")
@pytest.mark.parametrize(("first_letter", "kinds"), [(0x61, 26), (0x4E00, 600), (0x1F300, 600)])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_candidates_are_left_out_from_the_end_to_keep_the_budget(
    copies: int, first_letter: int, kinds: int
) -> None:
    """Queries beyond 64 code points are not stored, but reach the budget."""
    generator = random.Random(f"budget {copies}")
    letters = "".join(chr(first_letter + generator.randrange(kinds)) for _ in range(9_000))

    def scanned(chars: int) -> tuple[dict[str, Any], bool]:
        """The scan for a query of that many code points, and whether all copies fit."""
        query = letters[:chars]
        text = (query[:99] + "~" + query[100:]).join(["." * 20] * (copies + 1))
        result = whole(text, query)
        spans = [(20 + n * (chars + 20), (n + 1) * (chars + 20)) for n in range(copies)]
        candidates = [
            {
                "distance": 1,
                "start": start,
                "end": end,
                "text": text[start:end],
                "before": "." * 16,
                "after": "." * 16,
            }
            for start, end in spans
        ]
        assert result["candidates"] == candidates[: len(result["candidates"])]
        flags = {"candidates_truncated": False, "truncated": False}
        everything = {**result, **flags, "candidates": candidates}
        everything.pop("hint", None)
        return result, size({"near_misses": everything}) <= 8_192

    low, high = 100, 9_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if scanned(middle)[1] else (low, middle)
    for chars in range(low - 2, low + 4):
        result, fits = scanned(chars)
        assert fits == (chars <= low)
        assert len(result["candidates"]) == (copies if fits else copies - 1)
        assert size({"near_misses": result}) <= 8_192
        assert result["candidates_truncated"] == result["truncated"] == (not fits)
        assert ("hint" in result) == (not result["candidates"])


@pytest.mark.req("NEAR-035")
@pytest.mark.parametrize(
    "reason",
    [
        "match_too_large",
        "sequential_match_consumed",
        "caller_transaction",
        "historical_context_unavailable",
    ],
)
def test_an_omitted_scan_has_the_same_keys_and_no_range(reason: str) -> None:
    assert omitted(reason) == {
        "candidates": [],
        "omission_reason": reason,
        "scan_source": None,
        "scanned_start": None,
        "scanned_end": None,
        "comparison_cells": 0,
        "scope_truncated": False,
        "candidates_truncated": False,
        "truncated": False,
    }
    assert set(omitted(reason)) == KEYS == set(whole("abc", "abd"))


@pytest.mark.req("EVID-075")
@pytest.mark.parametrize(
    ("raw", "query"),
    [
        ("x", "x"),
        ("x" * 64, "x" * 64),
        (ASTRAL * 64, ASTRAL * 64),
        ("x" * 65, None),
        (ASTRAL * 65, None),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\r\n" * 32, "\n" * 32),
        ("\r\n" * 32 + "x", None),  # 65 as submitted, 33 in canonical form
    ],
)
def test_the_stored_query(raw: str, query: str | None) -> None:
    reason = "match_too_large" if query is None else None
    assert near_miss_query(raw) == {"query": query, "omission_reason": reason}


@pytest.mark.req("EVID-076")
@pytest.mark.parametrize("letter", ["x", ASTRAL, "\x01", '"', "\U0010ffff"])
def test_the_stored_query_fits_its_budget(letter: str) -> None:
    stored = near_miss_query(letter * 64)
    assert stored["query"] == letter * 64
    assert size({"near_miss_query": stored}) <= 1_024
