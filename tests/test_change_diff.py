"""What is shown of one change: the right lines, with their numbers, at whatever place."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from patchdiff.change_diff import (
    CONTEXT_LINES,
    LONGEST_LINE,
    MAXIMUM_ROWS,
    Line,
    change_diff,
    surroundings,
)

TEXTS = st.text(st.sampled_from("ab \n\n\r\u2028é\U0001f600"), max_size=60)


def lines_of(text: str) -> list[str]:
    """Lines with their line feeds, which alone end one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def shown(line: Line) -> str:
    assert not any(run.cut for run in line.runs)
    return "".join(run.text for run in line.runs) + ("\n" if line.ends else "")


def marks(line: Line | None) -> list[str]:
    return [] if line is None else [run.text for run in line.runs if run.marked]


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_every_line_that_differs_is_shown_where_it_stands(
    head: str, old: str, new: str, tail: str
) -> None:
    before, after = lines_of(head + old + tail), lines_of(head + new + tail)
    around = surroundings(head + old + tail, len(head), len(head + old))
    diff = change_diff(old, new, around)
    assert diff.rows_left_out == 0
    numbers: tuple[list[int], list[int]] = ([], [])
    alike = []
    for row in diff.rows:
        if row.gap:
            assert row.gap >= 2
            continue
        for side, lines, line in ((0, before, row.old), (1, after, row.new)):
            if line is not None:
                assert line.number is not None
                assert shown(line) == lines[line.number - 1]
                numbers[side].append(line.number)
        if row.kind == "alike":
            assert row.old is not None
            assert row.new is not None
            assert shown(row.old) == shown(row.new)
            alike.append((row.old.number, row.new.number))
    assert list(numbers[0]) == sorted(set(numbers[0]))
    assert list(numbers[1]) == sorted(set(numbers[1]))
    # what is not shown is the same on both sides, between the same lines that are
    rest = [
        [line for number, line in enumerate(lines, 1) if number not in shown_numbers]
        for lines, shown_numbers in ((before, numbers[0]), (after, numbers[1]))
    ]
    assert rest[0] == rest[1]


def test_a_word_is_marked_between_three_lines_of_context() -> None:
    text = "".join(f"line {number} here\n" for number in range(1, 12))
    start = text.index("6")
    diff = change_diff("6", "six", surroundings(text, start, start + 1))
    assert [row.kind for row in diff.rows] == ["alike"] * 3 + ["changed"] + ["alike"] * 3
    numbers = [(r.old and r.old.number, r.new and r.new.number) for r in diff.rows]
    assert numbers == [(n, n) for n in range(3, 10)]
    changed = diff.rows[CONTEXT_LINES]
    assert (marks(changed.old), marks(changed.new)) == (["6"], ["six"])


def test_numbers_after_a_change_of_the_number_of_lines() -> None:
    text = "a\nb\nc\nd\n"
    diff = change_diff("b\n", "b\nx\ny\n", surroundings(text, 2, 4))
    assert [(r.kind, r.old and r.old.number, r.new and r.new.number) for r in diff.rows] == [
        ("alike", 1, 1), ("alike", 2, 2), ("changed", None, 3), ("changed", None, 4),
        ("alike", 3, 5), ("alike", 4, 6),
    ]  # fmt: skip


def test_a_last_line_that_gets_its_line_feed_differs() -> None:
    [first, second] = change_diff("", "\n", surroundings("a\nb", 3, 3)).rows
    assert first.kind == "alike"
    assert second.old is not None
    assert second.new is not None
    assert (second.kind, second.old.ends, second.new.ends) == ("changed", False, True)


def test_far_apart_differences_of_a_whole_replacement_leave_out_what_is_alike() -> None:
    old = "".join(f"{number}\n" for number in range(500))
    new = old.replace("\n100\n", "\nhundred\n").replace("\n400\n", "\n")
    diff = change_diff(old, new, surroundings(old, 0, len(old)))
    gaps = [row.gap for row in diff.rows if row.gap]
    # 299 lines between the two, three shown at each end
    assert gaps == [293]
    assert [r.old.number for r in diff.rows if r.kind == "changed" and r.old] == [101, 401]


def test_an_unknown_place_has_no_numbers() -> None:
    rows = change_diff("a\nb", "a\nc", None).rows
    assert [(r.old and r.old.number, r.new and r.new.number) for r in rows] == [(None, None)] * 2
    assert all(line.ends for row in rows for line in (row.old, row.new) if line)


def test_a_long_line_is_shown_around_its_change() -> None:
    text = f"{'x' * 500_000} {'y' * 500_000}\n"
    diff = change_diff(" ", " and ", surroundings(text, 500_000, 500_001))
    [row] = diff.rows
    assert row.new is not None
    cut = sum(run.cut for run in row.new.runs)
    visible = sum(len(run.text) for run in row.new.runs)
    assert visible <= LONGEST_LINE
    assert cut + visible == len(text) - 1 + len("and ")
    assert "and" in "".join(marks(row.new))


def test_what_is_beyond_the_rows_is_counted() -> None:
    new = "".join(f"{number}\n" for number in range(MAXIMUM_ROWS))
    assert change_diff("", new, surroundings("", 0, 0)).rows_left_out == 0
    diff = change_diff("", f"{new}more\n", surroundings("", 0, 0))
    assert (len(diff.rows), diff.rows_left_out) == (MAXIMUM_ROWS, 1)


def test_the_time_is_bounded_whatever_the_texts_are() -> None:
    hard = [
        ("\n" * 200_000, "\n" * 100_000 + "x\n" * 100_000),
        ("ab\nba\n" * 500, "ba\nab\n" * 499),
        ("x" * 1_000_000, "x" * 999_999 + "y"),
        (". " * 150, ", " * 150),
        (
            "".join(f"{n}\n" for n in range(1000)),
            "".join(f"{n * (1 + 7919 * (n % 2))}\n" for n in range(1000)),
        ),
    ]
    for old, new in hard:
        start = time.process_time()
        change_diff(old, new, surroundings(old, 0, len(old)))
        assert time.process_time() - start < 3
