"""The reports of db/audit: run by a real psql, on texts that would disturb a terminal."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from pathlib import Path

import psycopg
import pytest

from patchdiff import Service
from patchdiff.schema import migrate
from tests.support.documents import ServiceCaller, accepted, change, document, overwrite, rejected
from tests.support.postgres import server_binaries

AUDIT = Path(__file__).resolve().parents[1] / "db" / "audit"
REPORTS = sorted(path.name for path in AUDIT.glob("[!_]*.sql"))
COLUMNS = 120

HOSTILE = [
    "plain",
    "\x1b[2J\x1b[31mred\x07",
    "tab\tline\nreturn\rend",
    "\u4e2d\u6587\uff21" * 30,
    "\U0001f600\U0001f1e9\U0001f1ea\u200d" * 20,
    "e\u0301\u0300\u0302" * 30,
    "\u202eright\u2066to left\u2069\u200b\ufeff",
    "%s '; drop table x; -- :target \\gset \\! true",
    "a" * 5000,
    "\x85\u2028\u2029\xa0\xad",
]


def columns(line: str) -> int:
    """The most columns that a terminal takes for a line: two for whatever may be wide."""
    wide = {"W", "F"}
    return sum(
        2 if unicodedata.east_asian_width(character) in wide else 1
        for character in line
        if not unicodedata.combining(character)
    )


def report(url: str, name: str, **variables: object) -> list[str]:
    """The lines that psql prints for a report, which must be nothing but shown text."""
    psql = server_binaries("18") / "psql"
    assignments = [f"--set={key}={value}" for key, value in variables.items()]
    told = subprocess.run(
        [psql, "-X", "-v", "ON_ERROR_STOP=1", *assignments, "-d", url, "-f", str(AUDIT / name)],
        capture_output=True,
        check=False,
        env={**os.environ, "PGCLIENTENCODING": "UTF8", "COLUMNS": str(COLUMNS)},
    )
    text = told.stdout.decode("utf-8")
    assert (told.returncode, told.stderr) == (0, b""), text
    for line in text.split("\n"):
        assert columns(line) <= COLUMNS, (name, columns(line), line)
        for character in line:
            shown = character == " " or unicodedata.category(character)[0] not in "CZ"
            assert shown, (name, hex(ord(character)), line)
    return text.split("\n")


@pytest.fixture(scope="module")
def audited(postgres):
    """A database whose every shown text is hostile, and its targets by name."""
    name = "audited"
    url = postgres.create_database(name)
    targets: dict[str, str] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection)
        caller = ServiceCaller(Service(connection))
        for number, text in enumerate(HOSTILE):
            target = document(caller, f"start {text} end", filename=f"{text}{number}")[
                "target_file_id"
            ]
            accepted(
                caller, target, change("start", text, rationale=text), source=text, intent=text
            )
            rejected(
                caller, target, change("absent!", text), reason="match_absent", source=text,
                expected_target_version=1, intent=text,
            )  # fmt: skip
            targets[f"hostile {number}"] = target
        target = document(caller, "one two", filename="known.txt")["target_file_id"]
        accepted(caller, target, change("one", "1\n"), source="ann", intent="digits")
        accepted(caller, target, change("two", "2"), source="ben", expected_target_version=1)
        rejected(
            caller, target, change("three", "3"), reason="match_absent", source="ben",
            expected_target_version=2, intent="more digits",
        )  # fmt: skip
        targets["known"] = target
        damaged = document(caller, "x", filename="damaged.txt")["target_file_id"]
        accepted(caller, damaged, change("x", "y"))
        overwrite(connection, damaged, current_content="z")
        targets["damaged"] = damaged
    try:
        yield url, targets
    finally:
        postgres.drop_database(name)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_readable_whatever_the_texts_are(audited, name) -> None:
    url, _ = audited
    lines = report(url, name)
    assert len(lines) > 4


@pytest.mark.parametrize("number", range(len(HOSTILE)))
@pytest.mark.parametrize("name", ["attempts.sql", "changes.sql"])
def test_a_target_s_reports_are_readable_whatever_its_texts_are(audited, name, number) -> None:
    url, targets = audited
    report(url, name, target=targets[f"hostile {number}"])


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_of_an_empty_database_is_one(fresh_database_url, name) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
    assert report(fresh_database_url, name)


def cells(lines: list[str]) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in lines if "|" in line]


def test_what_the_reports_say_of_a_known_target(audited) -> None:
    url, targets = audited
    attempts = cells(report(url, "attempts.sql", target=targets["known"]))
    assert [(row[2], row[4], row[5]) for row in attempts[1:]] == [
        ("rejected", "ben", "match_absent: more digits"),
        ("accepted", "ben", "t"),
        ("accepted", "ann", "digits"),
    ]
    assert len(cells(report(url, "attempts.sql", target=targets["known"], limit=2))) == 3
    changes = cells(report(url, "changes.sql", target=targets["known"]))
    assert [row[2:] for row in changes[1:]] == [["2", "two", "2"], ["1", "one", "1\\n"]]
    failures = cells(report(url, "failures.sql"))
    assert ["match_absent", "", str(len(HOSTILE) + 1)] in [row[:3] for row in failures]
    who = cells(report(url, "who.sql", limit=100))
    assert {(row[0], row[1], row[4], row[5]) for row in who if row[1] == "known.txt"} == {
        ("ann", "known.txt", "1", "0"),
        ("ben", "known.txt", "1", "1"),
    }
    cycles = cells(report(url, "open_cycles.sql", limit=100))
    assert [row[1] for row in cycles if row[0] == "known.txt"] == [targets["known"]]
    assert [row[4] for row in cycles if row[0] == "known.txt"] == ["2"]
    integrity = cells(report(url, "integrity.sql", limit=100))
    verdicts = {(row[0], row[2]) for row in integrity}
    assert {("known.txt", "intact"), ("damaged.txt", "damaged")} <= verdicts
    overview = dict(row for row in cells(report(url, "overview.sql")) if len(row) == 2)
    assert overview["targets"] == str(len(HOSTILE) + 2)
    assert overview["attempts"] == str(2 * len(HOSTILE) + 4)


def test_an_unknown_target_is_said_to_be_none(audited) -> None:
    url, _ = audited
    for asked in ("x", "00000000-0000-4000-8000-000000000000", "'; select 1; --"):
        assert "no target" in "\n".join(report(url, "attempts.sql", target=asked))


def test_the_views_are_open_to_a_holder_of_pg_read_all_data(audited) -> None:
    url, targets = audited
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role audited_reader login in role pg_read_all_data")
    try:
        reader = psycopg.conninfo.make_conninfo(url, user="audited_reader")
        for name in REPORTS:
            report(reader, name, target=targets["known"])
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("drop role audited_reader")
