"""Exact occurrences against a plain model, overlapping and periodic texts above all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patchdiff.search import occurrences

PIECES = st.lists(st.sampled_from(["a", "b", "ab", "aab", "\U0001f600", "e\u0301"]), max_size=40)


def model(buffer: str, needle: str) -> list[int]:
    return [i for i in range(len(buffer)) if buffer[i : i + len(needle)] == needle]


@pytest.mark.req("FIND-004", "FIND-005", "FIND-006")
@given(PIECES, st.integers(1, 4), st.integers(0, 200), st.integers(1, 60))
@example(["aab"] * 30, 1, 0, 25)
@example(["a"] * 40, 3, 0, 20)
def test_every_occurrence_is_found(pieces: list[str], times: int, start: int, size: int) -> None:
    buffer = "".join(pieces) * times
    start = min(start, max(0, len(buffer) - 1))
    for needle in (buffer[start : start + size], "ab" * size, "a" * size + "b"):
        if needle:
            assert occurrences(buffer, needle) == model(buffer, needle)


@given(st.text(alphabet="ab", max_size=200), st.text(alphabet="ab", min_size=17, max_size=24))
def test_long_needles_over_two_letters(buffer: str, needle: str) -> None:
    text = buffer + needle + needle[3:] + needle + buffer
    assert occurrences(text, needle) == model(text, needle)


def test_a_self_overlapping_needle_takes_linear_time() -> None:
    """Looked at again from each place, these would take minutes."""
    assert occurrences("a" * 400_000, "a" * 100_000) == list(range(300_001))
    needle = "ab" * 50_000 + "a"
    assert occurrences("ab" * 300_000, needle) == list(range(0, 499_999, 2))
