"""The near-miss search against an exhaustive scorer; its work and its limit."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchdiff import approximate_search, near_misses
from patchdiff.approximate_search import search
from tests.support.near_misses import (
    ACUTE,
    ALPHABETS,
    ASTRAL,
    changed,
    limit_of,
    log_lines,
    places,
    qualifying,
    random_case,
    reached_row,
    sentences,
    whole,
    without_overlaps,
)

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"


@pytest.mark.req(
    "NEAR-008", "NEAR-009", "NEAR-010", "NEAR-011", "NEAR-013", "NEAR-014", "NEAR-015", "NEAR-016",
    "NEAR-021", "NEAR-033", "NEAR-034", "NEAR-035",
)  # fmt: skip
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_the_ranking_is_that_of_an_exhaustive_scorer(alphabet: str) -> None:
    generator = random.Random(f"ranking {alphabet}")
    with_candidates = 0
    for number in range(600):
        text, query = random_case(generator, alphabet, 200 if number % 10 == 0 else 60)
        expected = without_overlaps(qualifying(text, query))
        result = whole(text, query)
        assert places(result) == expected[:3], (text, query)
        assert result["candidates_truncated"] == (len(expected) > 3), (text, query)
        assert result["truncated"] == result["candidates_truncated"]
        assert (result["scanned_end"], result["scope_truncated"]) == (len(text), False)
        assert result["omission_reason"] is None
        with_candidates += bool(expected)
    assert with_candidates > 150


@pytest.mark.req("NEAR-008", "NEAR-010", "NEAR-015", "NEAR-021", "NEAR-034")
@given(
    st.text(alphabet=f"ab{ASTRAL}{ACUTE}", max_size=40),
    st.text(alphabet=f"ab{ASTRAL}{ACUTE}", min_size=1, max_size=20),
)
def test_the_ranking_is_exhaustive_on_any_small_text(text: str, query: str) -> None:
    expected = without_overlaps(qualifying(text, query))
    assert places(whole(text, query)) == expected[:3]
    assert whole(text, query)["candidates_truncated"] == (len(expected) > 3)


@pytest.mark.req("NEAR-021")
@pytest.mark.parametrize("chars", [8, 20])
def test_the_ranking_is_exhaustive_over_a_longer_repetitive_text(chars: int) -> None:
    generator = random.Random(f"lines {chars}")
    text = log_lines(generator, 17_500)
    line = text.index("\n", 16_300) + 1
    query = changed(generator, text[line : line + chars], "019 =")
    assert places(whole(text, query)) == without_overlaps(qualifying(text, query))[:3]


@pytest.mark.req("NEAR-009")
def test_a_query_of_one_code_point_has_windows_of_one_and_two() -> None:
    assert places(whole("x", "x")) == []
    assert places(whole("", "x")) == []
    assert places(whole("y", "x")) == [(1, 0, 1)]
    assert places(whole("xx", "x")) == [(1, 0, 2)]
    assert places(whole("xyx", "x")) == [(1, 0, 2)]
    assert places(whole("yyxy", "x")) == [(1, 0, 1), (1, 1, 2), (1, 2, 4)]


@pytest.mark.req("NEAR-011", "NEAR-012", "NEAR-013")
@pytest.mark.parametrize(
    ("chars", "accepted"),
    [(1, 1), (4, 1), (7, 1), (8, 2), (11, 2), (12, 3), (15, 3), (16, 4), (20, 4), (64, 4)],
)
def test_the_largest_distance_depends_on_the_query_s_length(chars: int, accepted: int) -> None:
    query = LETTERS[:chars]
    for distance in range(7):
        if distance > chars:
            continue
        slips = {index * chars // max(1, distance) for index in range(distance)}
        text = "".join("!" if at in slips else letter for at, letter in enumerate(query))
        expected = [(distance, 0, chars)] if 0 < distance <= accepted else []
        if distance == 0 and chars > 1:  # the text itself is no candidate, one code point less is
            expected = [(1, 0, chars - 1)]
        assert places(whole(text, query)) == expected


@pytest.mark.req("NEAR-010", "NEAR-018")
def test_an_astral_character_counts_as_one() -> None:
    query = ASTRAL * 3 + "abcde"
    assert places(whole("xy" + ASTRAL * 3 + "abXYe" + "z", query)) == [(2, 2, 10)]
    assert places(whole("xy" + ASTRAL + "abcde" + "z", query)) == [(2, 0, 8)]
    assert places(whole("e" + ACUTE + "t" + ACUTE, "e" + ACUTE + "t")) == [(1, 0, 2)]


@pytest.mark.req("NEAR-014", "NEAR-034")
def test_better_places_come_first_wherever_they_are() -> None:
    text = "abcd!!ghijkl....abcde!ghijkl....ab!de!gh!jkl....a!cdefghijkl...."
    expected = [(1, 16, 28), (1, 48, 60), (2, 0, 12)]
    result = whole(text, "abcdefghijkl")
    assert places(result) == expected
    assert result["candidates_truncated"] is True  # the one of distance three


@pytest.mark.req("NEAR-021")
@pytest.mark.parametrize("slip", range(0, 20, 3))
def test_a_place_is_found_wherever_it_begins(slip: int) -> None:
    """A search that goes through the text in parts must not lose what lies across two of them."""
    query = LETTERS[:20]
    wrong = query[:slip] + "!" + query[slip + 1 :]
    for power in (1_024, 4_096, 16_384, 32_768):
        for start in range(power - 24, power + 5):
            text = "." * start + wrong + "." * 30
            assert places(whole(text, query)) == [(1, start, start + 20)]


@pytest.mark.req("NEAR-022", "NEAR-023", "NEAR-024", "NEAR-025", "NEAR-026", "NEAR-029")
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_the_work_is_counted_and_limited(alphabet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def recording(query: str) -> Any:
        evaluate = original(query)

        def record(beginning: str) -> Any:
            evaluation = evaluate(beginning)
            if evaluation is not None:
                measured.append(beginning)
            return evaluation

        return record

    original = approximate_search.evaluator
    monkeypatch.setattr(approximate_search, "evaluator", recording)
    generator = random.Random(f"work {alphabet}")
    stopped = 0
    for _ in range(150):
        text, query = random_case(generator, alphabet, 60)
        limit = generator.choice((1, 20, 100, 500, 2_000, 1_000_000))
        monkeypatch.setattr(near_misses, "CELL_LIMIT", limit)
        measured.clear()
        result = whole(text, query)
        costs = [
            max(1, min(len(query), reached_row(query, beginning)))
            * (2 * ((limit_of(query) + 1) // 2) + 1)
            for beginning in measured
        ]
        complete = sum(costs) <= limit
        committed = costs if complete else costs[:-1]
        assert result["comparison_cells"] == sum(committed) <= limit
        end = result["scanned_end"]
        assert (end == len(text)) == complete
        assert result["scope_truncated"] == (not complete)
        assert places(result) == without_overlaps(qualifying(text, query, end))[:3]
        assert (result["omission_reason"] == "work_budget_exhausted") == (
            not complete and not committed
        )
        assert ("hint" in result) == (not result["candidates"] and bool(complete or committed))
        if not complete:
            stopped += 1
            assert text[end:].startswith(measured[-1])
    assert stopped > 5


@pytest.mark.req("NEAR-024", "NEAR-025", "NEAR-026", "NEAR-028", "NEAR-032", "NEAR-035")
@pytest.mark.parametrize(
    ("chars", "width", "starts"),
    [(40, 5, 5_000), (33, 5, 6_060), (64, 5, 3_125), (12, 5, 16_666), (8, 3, 41_666)],
)
@pytest.mark.parametrize("letter", ["a", ASTRAL])
def test_a_homogeneous_buffer_stops_at_the_limit(
    chars: int, width: int, starts: int, letter: str
) -> None:
    """Every start qualifies by its last code point: each costs all rows of the band's width."""
    result = whole(letter * 65_536, letter * (chars - 1) + "b")
    assert result["comparison_cells"] == starts * chars * width <= 1_000_000
    assert (starts + 1) * chars * width > 1_000_000
    assert (result["scanned_start"], result["scanned_end"]) == (0, starts)
    assert (result["scope_truncated"], result["truncated"]) == (True, True)
    assert result["omission_reason"] is None
    shorter = chars - 1
    assert places(result) == [(1, shorter * n, shorter * (n + 1)) for n in range(3)]
    assert result["candidates_truncated"] is True


@pytest.mark.req("NEAR-029")
@pytest.mark.parametrize(("limit", "reason"), [(23, "work_budget_exhausted"), (24, None)])
def test_the_budget_is_exhausted_only_when_nothing_could_be_evaluated(
    limit: int, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_misses, "CELL_LIMIT", limit)
    result = whole("abcd!fgh" * 2, "abcdefgh")
    assert result["omission_reason"] == reason
    assert set(result) == set(near_misses.omitted("work_budget_exhausted"))
    assert result["truncated"] is True
    assert places(result) == ([(1, 0, 8)] if reason is None else [])
    assert result["comparison_cells"] == (0 if reason else 24)


@pytest.mark.req("NEAR-027", "NEAR-024", "NEAR-033")
@pytest.mark.parametrize("chars", [2, 5, 8, 12, 16, 40, 64])
@pytest.mark.parametrize("writer", [sentences, log_lines])
def test_prose_and_logs_are_scanned_to_the_end(writer: Any, chars: int) -> None:
    generator = random.Random(f"{writer.__name__} {chars}")
    text = writer(generator, 65_536)
    assert len(text) == 65_536
    start = text.index("\n" if "\n" in text else ". ", 60_000) + 1
    query = text[start : start + chars - 1] + "~"
    assert query not in text
    result = whole(text, query)
    assert (result["scanned_end"], result["scope_truncated"]) == (65_536, False)
    assert 0 < result["comparison_cells"] < 1_000_000
    assert result["candidates"][0]["distance"] == 1


@pytest.mark.parametrize(
    ("writer", "looked_at", "measured"), [(sentences, 200, 20), (log_lines, 6_000, 300)]
)
def test_few_window_starts_are_looked_at_and_fewer_measured(
    writer: Any, looked_at: int, measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes the search fast: of 65,536 window starts most are never looked at, and of those
    beside a piece of the query most are not measured."""
    looks: list[str] = []
    original = approximate_search.evaluator

    def counting(query: str) -> Any:
        evaluate = original(query)
        return lambda beginning: (looks.append(beginning), evaluate(beginning))[1]

    monkeypatch.setattr(approximate_search, "evaluator", counting)
    text = writer(random.Random(f"fast {writer.__name__}"), 65_536)
    query = text[50_010:50_030] + "~" + text[50_031:50_051]
    found = search(text, query, 1, 1_000_000)
    assert tuple(found.windows[0]) == (1, 50_010, 50_051)
    assert 0 < found.evaluations <= measured
    assert len(looks) <= looked_at


def test_the_places_asked_for_are_the_places_given() -> None:
    """Any number of places can be asked for; each is the best that overlaps none before it."""
    text = "abcd!fgh..abc!!fgh..ab!defgh"
    expected = [(1, 0, 8), (1, 20, 28), (2, 10, 18)]
    for places_wanted in range(1, 5):
        found = search(text, "abcdefgh", places_wanted, 1_000_000)
        assert [tuple(window) for window in found.windows] == expected[:places_wanted]
