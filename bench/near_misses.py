"""What one near-miss scan costs, against exhaustive scorers and two libraries for fuzzy search.

Every contestant gets the same query and the same 65,536 code points, taking turns in one run. The
contestants:

- scan: `patchdiff.near_misses.scan`, up to its cell limit;
- banded: an exhaustive scorer. Every window start that the scan covered, by the rows of the band
  that the limit allows, leaving a start as soon as it cannot qualify;
- table: an exhaustive scorer. Every window start that the scan covered, by a whole distance table;
- regex: the best match of the `regex` module's fuzzy search, given up after a minute;
- fuzzysearch: `find_near_matches` of the package of that name.

The last two also count windows whose length differs by more than one. The scan must find the places
that the banded scorer finds; the goals are reported, not asserted.
"""

import argparse
import itertools
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

import regex
from rich.console import Console
from rich.table import Table

from patchdiff.approximate_search import distance_limit, search
from patchdiff.near_misses import CELL_LIMIT, SCANNED_CODE_POINTS, scan

try:
    import fuzzysearch
except ModuleNotFoundError:
    fuzzysearch = None

SEED = 20_260_101
ROUNDS = 9
FEW_ROUNDS = 3
REGEX_SECONDS = 60.0
EXHAUSTIVE = ("banded", "table")
EXHAUSTIVE_GOALS = {"prose": 100, "logs": 15}
"""How many times faster than an exhaustive scorer the scan is to be, by kind of text."""

Places = list[tuple[int, int, int]]
"""Distance, start and end of each place."""


@dataclass(frozen=True)
class Fixture:
    """A text and a query that does not occur in it."""

    name: str
    text: str
    query: str


def prose(generator: random.Random) -> str:
    """Sentences of made-up words, the short ones frequent, as in a natural text."""
    syllables = [
        first + vowel + last
        for first, vowel, last in itertools.product("bcdfglmnprstv", "aeiou", ("", *"lnrst"))
    ]
    words = ["".join(generator.choices(syllables, k=1 + rank // 300)) for rank in range(1_500)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    text, length = [], 0
    while length < SCANNED_CODE_POINTS:
        sentence = " ".join(generator.choices(words, weights, k=generator.randint(6, 22)))
        text.append(sentence.capitalize() + generator.choice((". ", ". ", ", but ", ".\n")))
        length += len(text[-1])
    return "".join(text)[:SCANNED_CODE_POINTS]


def logs(generator: random.Random) -> str:
    """Log lines that repeat one structure, with changing times, numbers and a few words."""
    text, length, clock = [], 0, 0
    while length < SCANNED_CODE_POINTS:
        clock += generator.randint(1, 900)
        minutes, milliseconds = divmod(clock, 60_000)
        text.append(
            f"2026-01-01T10:{minutes % 60:02}:{milliseconds / 1000:06.3f}Z "
            f"{generator.choice(('INFO ', 'INFO ', 'INFO ', 'WARN ', 'DEBUG'))} "
            f"worker-{generator.randint(1, 8):02} request={generator.randint(0, 999_999):06} "
            f"status={generator.choice((200, 200, 200, 404, 500))} "
            f"duration_ms={generator.randint(1, 999)}\n"
        )
        length += len(text[-1])
    return "".join(text)[:SCANNED_CODE_POINTS]


def changed(passage: str, places: Iterable[int]) -> str:
    """The passage with the code points at those places replaced by a letter no text has."""
    characters = list(passage)
    for place in places:
        characters[place] = "ß"
    return "".join(characters)


def fixtures() -> list[Fixture]:
    """Passages of both texts with one or two slips, and a text of one letter."""
    generator = random.Random(SEED)
    made = []
    for name, text in (("prose", prose(generator)), ("logs", logs(generator))):
        line = text.index("\n", 40_000) + 1
        for start, chars, slips in (
            (line, 16, (5, 13)),
            (line, 64, (20, 61)),
            (line + 25, 40, (12,)),
            (line + 25, 8, (4,)),
        ):
            query = changed(text[start : start + chars], slips)
            place = "of a line" if start == line else "amid a line"
            made.append(Fixture(f"{name}, {chars} {place}", text, query))
    made.append(Fixture("one letter, 40", "a" * SCANNED_CODE_POINTS, "a" * 39 + "b"))
    return made


def ranked(windows: Places) -> Places:
    """The first three windows in the order distance, start, end that overlap none before them."""
    chosen: Places = []
    for window in sorted(windows):
        if all(window[2] <= other[1] or other[2] <= window[1] for other in chosen):
            chosen.append(window)
        if len(chosen) == 3:
            break
    return chosen


def table_scorer(text: str, query: str, end: int) -> Places:
    """Every window of the starts before `end`, by a whole distance table for each start."""
    chars, limit = len(query), distance_limit(len(query))
    windows = []
    for start in range(end):
        beginning = text[start : start + chars + 1]
        row = list(range(len(beginning) + 1))
        for line, wanted in enumerate(query, 1):
            left, diagonal = line, row[0]
            row[0] = line
            for column, present in enumerate(beginning, 1):
                above = row[column]
                best = diagonal if wanted == present else diagonal + 1
                if above < best:
                    best = above + 1
                if left < best:
                    best = left + 1
                row[column] = left = best
                diagonal = above
        windows += [
            (row[size], start, start + size)
            for size in range(max(1, chars - 1), len(beginning) + 1)
            if 0 < row[size] <= limit
        ]
    return ranked(windows)


def banded_scorer(text: str, query: str, end: int) -> Places:
    """Every window of the starts before `end`, by the rows of the band that the limit allows."""
    chars, limit = len(query), distance_limit(len(query))
    radius = (limit + 1) // 2
    far = limit + 1
    windows = []
    for start in range(end):
        beginning = text[start : start + chars + 1]
        columns = len(beginning)
        row = [*range(radius + 1), *[far] * (columns + 1)]
        for line, wanted in enumerate(query, 1):
            low, high = max(1, line - radius), min(columns, line + radius)
            if low > high:
                break
            diagonal = row[low - 1]
            row[low - 1] = left = line if low == 1 else far
            smallest = left
            for column in range(low, high + 1):
                above = row[column]
                best = diagonal if wanted == beginning[column - 1] else diagonal + 1
                if above < best:
                    best = above + 1
                if left < best:
                    best = left + 1
                row[column] = left = best
                diagonal = above
                if best < smallest:
                    smallest = best
            if smallest > limit:
                break
        else:
            windows += [
                (row[size], start, start + size)
                for size in range(max(1, chars - 1), columns + 1)
                if 0 < row[size] <= limit
            ]
    return ranked(windows)


def milliseconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1_000


def fuzzy_pattern(query: str) -> "regex.Pattern[str]":
    """The query as a pattern of `regex` with the same limit of differences, best match wanted."""
    return regex.compile(f"(?b)(?:{regex.escape(query)}){{e<={distance_limit(len(query))}}}")


def contestants(fixture: Fixture, end: int) -> dict[str, Callable[[], object]]:
    """What takes part, by name; the exhaustive scorers get the range that the scan covers."""
    text, query = fixture.text, fixture.query
    pattern = fuzzy_pattern(query)
    limit = distance_limit(len(query))

    def through_scan() -> object:
        return scan(text, query, offset=0, total_chars=len(text), scan_source="failing_buffer")

    def through_regex() -> object:
        try:
            return pattern.search(text, timeout=REGEX_SECONDS)
        except TimeoutError:
            return None

    taking_part: dict[str, Callable[[], object]] = {
        "scan": through_scan,
        "banded": lambda: banded_scorer(text, query, end),
        "table": lambda: table_scorer(text, query, end),
        "regex": through_regex,
    }
    if fuzzysearch is not None:
        taking_part["fuzzysearch"] = lambda: fuzzysearch.find_near_matches(
            query, text, max_l_dist=limit
        )
    return taking_part


def measure(fixture: Fixture, end: int) -> dict[str, float]:
    """The median milliseconds of each contestant, in turns and in alternating order; those slower
    than a second take part in fewer rounds, those slower than ten in one."""
    taking_part = contestants(fixture, end)
    taking_part["scan"]()
    times = {name: [milliseconds(work)] for name, work in taking_part.items()}
    for number in range(1, ROUNDS):
        order = list(taking_part) if number % 2 else list(reversed(taking_part))
        for name in order:
            first = times[name][0]
            if first < 1_000 or (first < 10_000 and number < FEW_ROUNDS):
                times[name].append(milliseconds(taking_part[name]))
    return {name: statistics.median(measured) for name, measured in times.items()}


def compare(fixture: Fixture, table: Table) -> None:
    """Adds the fixture's rows; the scan's places must be those of an exhaustive scorer."""
    assert fixture.query not in fixture.text
    result = search(fixture.text, fixture.query, 3, CELL_LIMIT)
    found = [tuple(window) for window in result.windows]
    expected = banded_scorer(fixture.text, fixture.query, result.scanned_end)
    if found != expected:
        raise RuntimeError(f"{fixture.name}: the scan found {found}, exhaustive {expected}")
    medians = measure(fixture, result.scanned_end)
    own = medians.pop("scan")
    scanned = result.scanned_end / len(fixture.text)
    table.add_row(
        fixture.name, "scan", f"{own:.2f}", "", f"{scanned:.0%}, {result.comparison_cells:,} cells"
    )
    for name, median in medians.items():
        goal = EXHAUSTIVE_GOALS.get(fixture.name.split(",")[0]) if name in EXHAUSTIVE else None
        wanted = f"goal {goal}×" if goal else ""
        table.add_row("", name, f"{median:,.1f}", f"{median / own:,.1f}×", wanted)
    if fuzzysearch is None:
        table.add_row("", "fuzzysearch", "missing", "", "")
    table.add_section()


def main() -> None:
    """Measures every fixture, or those whose name begins as asked, and prints the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="the beginning of the fixtures' names")
    only = arguments.parse_args().only
    console = Console(highlight=False)
    table = Table(title="one near-miss scan of 65,536 code points: medians in milliseconds")
    table.add_column("text, query")
    table.add_column("contestant")
    table.add_column("median", justify="right")
    table.add_column("of the scan", justify="right")
    table.add_column("")
    for fixture in fixtures():
        if fixture.name.startswith(only):
            compare(fixture, table)
    console.print(table)
    if fuzzysearch is None:
        console.print("fuzzysearch is not installed: it took no part.")
    libraries = [f"regex {regex.__version__}"]
    if fuzzysearch is not None:
        libraries.append(f"fuzzysearch {version('fuzzysearch')}")
    console.print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, "
        f"{', '.join(libraries)}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} CPUs, seed {SEED}"
    )


if __name__ == "__main__":
    main()
