"""Writers race on a few targets for minutes, each transaction held against a plain model of it."""

import itertools
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from patchdiff import Service
from tests.support.documents import (
    AWKWARD,
    ServiceCaller,
    canonical,
    change,
    content_of,
    document,
    random_text,
    sha256,
    submit,
)

WRITERS = 6
TARGETS = 2
LENGTH = 400
DEFAULT_MINUTES = "10"


def occurrences(text: str, match: str) -> list[int]:
    """Start of every exact occurrence, overlapping ones too."""
    return [start for start in range(len(text)) if text.startswith(match, start)]


def proposal(generator: random.Random, text: str) -> tuple[list[dict[str, object]], str]:
    """One to three edits of random places, each of the text before it, and what they leave."""
    edits = []
    for _ in range(generator.randint(1, 3)):
        start = generator.randrange(len(text))
        match = text[start : start + generator.randint(1, 6)]
        pieces = generator.randint(1, 4 if len(text) < LENGTH else 2)
        replace = "".join(generator.choices(AWKWARD, k=pieces))
        index = occurrences(text, match).index(start) + 1
        edits.append(change(match, replace, occurrence_index=index))
        text = text[:start] + canonical(replace) + text[start + len(match) :]
    return edits, text


def write(
    database_url: str, targets: list[str], seed: int, deadline: float
) -> tuple[dict[tuple[str, int], str], int]:
    """Submits until the deadline; the model's hash of each version it made, and its tries."""
    generator = random.Random(seed)
    made, attempts = {}, 0
    with psycopg.connect(database_url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        while time.monotonic() < deadline:
            target = generator.choice(targets)
            read = caller.call("patchdiff_get_target", target_file_id=target)
            edits, expected = proposal(generator, read["current_content"])
            arguments = {"expected_target_version": read["version"]}
            if generator.random() < 0.5:
                arguments["client_request_id"] = f"{seed}.{attempts}"
            answer = submit(caller, target, *edits, **arguments)
            attempts += 1
            if answer["status"] == "accepted":
                assert answer["version"] == read["version"] + 1
                assert answer["after_hash"] == sha256(expected)
                made[target, answer["version"]] = answer["after_hash"]
            else:
                assert answer["failure_reason"] == "target_version_mismatch"
    return made, attempts


@pytest.mark.soak
def test_writers_race_for_minutes(database_url: str, admin: psycopg.Connection) -> None:
    minutes = float(os.environ.get("PATCHDIFF_SOAK_MINUTES", DEFAULT_MINUTES))
    seed = random.randrange(1_000_000)
    print(f"seed {seed}, {minutes} minutes")
    caller = ServiceCaller(Service(admin))
    generator = random.Random(seed)
    texts = [random_text(generator, LENGTH) for _ in range(TARGETS)]
    targets = [document(caller, text)["target_file_id"] for text in texts]

    deadline = time.monotonic() + minutes * 60
    with ThreadPoolExecutor(WRITERS) as pool:
        calls = [
            pool.submit(write, database_url, targets, seed + number, deadline)
            for number in range(WRITERS)
        ]
        results = [call.result() for call in calls]

    made = {}
    for mine, _ in results:
        assert not made.keys() & mine.keys(), "two writers made one version"
        made |= mine
    assert made
    rows = admin.execute(
        "select target_file_id::text, status, before_version, before_hash, after_version,"
        " after_hash"
        " from patchdiff.append_only_pdcp_logs where target_file_id = any(%s::uuid[])"
        " order by log_sequence",
        [targets],
    ).fetchall()
    assert len(rows) == sum(attempts for _, attempts in results)
    for target, text in zip(targets, texts, strict=True):
        winners = [row for row in rows if row[0] == target and row[1] == "accepted"]
        assert [row[4] for row in winners] == list(range(1, len(winners) + 1))
        assert [row[5] for row in winners] == [made[target, row[4]] for row in winners]
        hashes = [sha256(canonical(text)), *(row[5] for row in winners)]
        assert [(row[3], row[5]) for row in winners] == list(itertools.pairwise(hashes))
        assert sha256(content_of(caller, target)) == hashes[-1]
