"""An exhaustive model of near misses, random cases and fixtures."""

from __future__ import annotations

import json
import random
from typing import Any

from patchdiff.near_misses import scan

ASTRAL = "\U0001f600"
ACUTE = "\u0301"
ALPHABETS = ("a", "ab", "abc", "abcdefgh", f"ae{ACUTE}{ASTRAL}\U0001f1e9", "a b\n", "01 :")


def size(value: object) -> int:
    """The bytes of the value as compact ASCII-escaped JSON."""
    return len(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode())


def whole(text: str, query: str) -> dict[str, Any]:
    """The scan of a failing buffer."""
    return scan(text, query, offset=0, total_chars=len(text), scan_source="failing_buffer")


def places(result: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Distance, start and end of each candidate."""
    return [(found["distance"], found["start"], found["end"]) for found in result["candidates"]]


def limit_of(query: str) -> int:
    """The largest accepted distance of a query."""
    return min(4, max(1, len(query) // 4))


def distances_of_prefixes(query: str, text: str) -> list[int]:
    """The Levenshtein distance of the query to every prefix of the text, by the whole table."""
    row = list(range(len(text) + 1))
    for line, wanted in enumerate(query, 1):
        above, row = row, [line]
        for column, present in enumerate(text, 1):
            changed = above[column - 1] + (wanted != present)
            row.append(min(changed, above[column] + 1, row[-1] + 1))
    return row


def qualifying(text: str, query: str, end: int | None = None) -> list[tuple[int, int, int]]:
    """Every window that qualifies, of the starts before ``end``, in ranking order."""
    chars, windows = len(query), []
    for start in range(len(text) if end is None else end):
        distances = distances_of_prefixes(query, text[start : start + chars + 1])
        windows += [
            (distances[length], start, start + length)
            for length in (chars - 1, chars, chars + 1)
            if 0 < length < len(distances) and 0 < distances[length] <= limit_of(query)
        ]
    return sorted(windows)


def without_overlaps(windows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Those of the windows that overlap none before them, in the order given."""
    chosen: list[tuple[int, int, int]] = []
    for window in windows:
        if not any(set(range(*window[1:])) & set(range(*other[1:])) for other in chosen):
            chosen.append(window)
    return chosen


def reached_row(query: str, text: str) -> int:
    """The furthest row of the banded table whose distance is within the limit; what lies past the
    text differs from every code point."""
    limit = limit_of(query)
    radius = (limit + 1) // 2
    cells = {(0, column): column for column in range(radius + 1)}
    for row, wanted in enumerate(query, 1):
        for column in range(max(0, row - radius), row + radius + 1):
            present = text[column - 1 : column] if column else ""
            cells[row, column] = min(
                cells.get((row - 1, column - 1), 99) + (wanted != present),
                cells.get((row - 1, column), 99) + 1,
                cells.get((row, column - 1), 99) + 1,
            )
    return max(row for (row, _), distance in cells.items() if distance <= limit)


def changed(generator: random.Random, passage: str, alphabet: str) -> str:
    """The passage after up to six random insertions, deletions and substitutions."""
    characters = list(passage)
    for _ in range(generator.randint(0, 6)):
        place = generator.randint(0, len(characters))
        removed = generator.choice((0, 1, 1)) if len(characters) > 1 else 0
        inserted = (
            generator.choice(alphabet + "~") if not removed or generator.random() < 0.5 else ""
        )
        characters[place : place + removed] = [inserted] if inserted else []
    return "".join(characters)[:64]


def random_case(generator: random.Random, alphabet: str, longest: int) -> tuple[str, str]:
    """A text and a query of 1 to 64 code points, often a changed passage of the text."""
    text = "".join(generator.choices(alphabet, k=generator.randint(0, longest)))
    chars = generator.choice((1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 33, 63, 64))
    if len(text) >= chars and generator.random() < 0.6:
        start = generator.randint(0, len(text) - chars)
        return text, changed(generator, text[start : start + chars], alphabet)
    return text, "".join(generator.choices(alphabet, k=chars))


def log_lines(generator: random.Random, chars: int) -> str:
    """Lines of one structure, with changing times, numbers and words."""
    return "".join(
        f"2026-01-01T10:{number // 60 % 60:02}:{number % 60:02}.{generator.randint(0, 999):03}Z "
        f"{generator.choice(('INFO ', 'WARN ', 'DEBUG'))} worker-{generator.randint(1, 8):02} "
        f"request={generator.randint(0, 999_999):06} status={generator.choice((200, 404))} "
        f"duration_ms={generator.randint(1, 999)}\n"
        for number in range(chars // 60)
    )[:chars]


def sentences(generator: random.Random, chars: int) -> str:
    """Varied prose of made-up words."""
    letters = "eeeeeettttaaaooiinnsshhrrdlucmfwypvbgk"
    words = ["".join(generator.choices(letters, k=generator.randint(2, 9))) for _ in range(900)]
    text = ""
    while len(text) < chars:
        text += " ".join(generator.choices(words, k=generator.randint(5, 20))).capitalize() + ". "
    return text[:chars]
