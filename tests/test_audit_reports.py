"""The reports of db/audit, run by the real psql on texts that would spoil a terminal."""

from __future__ import annotations

import re
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from patchdiff import Service
from patchdiff.embedded_account import installation
from patchdiff.schema import migrate
from tests.support.documents import ServiceCaller, accepted, change, document, submit
from tests.support.postgres import PostgresServer

AUDIT = Path(__file__).resolve().parents[1] / "db" / "audit"
REPORTS = sorted(path.stem for path in AUDIT.glob("[!_]*.sql"))
COLUMNS = 120

HOSTILE = {
    "escapes": "\x1b[31mred\x1b[0m\x1b]0;title\x07\x9b1m",
    "lines": "one\ntwo\r\nthree\tfour\x0bfive\x0csix\x85seven\u2028eight",
    "wide": "漢字かな交じり文" * 40,
    "emoji": "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea ❤\ufe0f"
    * 20,
    "marks": "e" + "\u0301\u0323\u20d7" * 60,
    "directions": "\u202eabc\u202c\u2066def\u2069 \u05d0\u05d1 \u0627\u0644",
    "blanks": "a\xa0b\xadc\u2003d\u3000e\u2029f\u1680g\ufeffh",
    "psql": "' :target :'limit' \\q \\! true ; -- /* $$ \\x %s",
    "long": "x" * 100_000,
    "bars": " | + - \\ " * 30,
}
"""Texts that break a table, steer a terminal, or mean something to psql."""


class Stocked(NamedTuple):
    """A database with hostile texts."""

    url: str
    targets: dict[str, str]
    """Target ids by the name of their text in HOSTILE."""


def canonical(text: str) -> str:
    return re.sub("\r\n?", "\n", text)


@pytest.fixture(scope="module")
def stocked(postgres: PostgresServer) -> Iterator[Stocked]:
    url = postgres.create_database("audit_reports")
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection)
        caller = ServiceCaller(Service(connection))
        targets = {}
        for name, text in HOSTILE.items():
            made = document(caller, f"before {text} after", filename=f"{name} {text}")
            targets[name] = made["target_file_id"]
            call = {"source": text, "intent": text}
            accepted(caller, targets[name], change(canonical(text), f"{text}!"), **call)
            submit(
                caller, targets[name], change("nowhere", text), expected_target_version=1, **call
            )
            submit(caller, targets[name], change("before", text), **call)
        connection.execute("vacuum analyze")
    yield Stocked(url, targets)
    postgres.drop_database("audit_reports")


def run(url: str, report: str, *before: str, **variables: object) -> str:
    """What a report prints when psql includes it; it must print no error and end with status 0."""
    given = [f"--set={name}={value}" for name, value in variables.items()]
    commands = "\n".join([*before, rf"\i '{AUDIT / report}.sql'"])
    done = subprocess.run(
        [installation() / "bin" / "psql", "-X", "-v", "ON_ERROR_STOP=1", *given, url],
        input=commands,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"LC_ALL": "C.UTF-8", "PGCLIENTENCODING": "UTF8"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def width(line: str) -> int:
    """The columns that a terminal draws: two for wide characters, none for marks."""
    return sum(
        0
        if unicodedata.category(character) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in line
    )


def assert_readable(printed: str) -> None:
    lines = printed.split("\n")
    assert [line for line in lines if width(line) > COLUMNS] == []
    assert [
        (hex(ord(character)), line)
        for line in lines
        for character in line
        if character != " " and unicodedata.category(character)[0] in "CZ"
    ] == []
    assert [line for line in lines if any(map(unicodedata.combining, line))] == []


def cells(line: str, ends: list[int]) -> list[str]:
    """What stands in a line up to each of these columns."""
    parts = [""] * (len(ends) + 1)
    column = 0
    for character in line:
        place = sum(column >= end for end in ends)
        if column not in ends:
            parts[place] += character
        column += width(character)
    return [part.strip() for part in parts]


def table(printed: str) -> list[list[str]]:
    """The cells of all tables, headings included, by the columns at which their rules cross."""
    lines = printed.split("\n")
    rules = [n for n, line in enumerate(lines) if re.fullmatch(r"-+(\+-+)+", line)]
    rows = []
    for rule in rules:
        ends = [n for n, character in enumerate(lines[rule]) if character == "+"]
        stop = lines.index("", rule)
        rows += [cells(line, ends) for line in (lines[rule - 1], *lines[rule + 1 : stop])]
    return rows


def test_these_are_the_reports() -> None:
    assert REPORTS == [
        "attempts",
        "changes",
        "failures",
        "integrity",
        "open_cycles",
        "overview",
        "who",
    ]


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_readable_whatever_the_texts_contain(stocked: Stocked, report: str) -> None:
    targets = stocked.targets.values() if report in ("attempts", "changes") else [None]
    for target in targets:
        printed = run(stocked.url, report, **({} if target is None else {"target": target}))
        assert_readable(printed)
        assert len(table(printed)) > 1


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_leaves_the_session_as_it_was(stocked: Stocked, report: str) -> None:
    settings = [r"\pset", r"\set"]
    command = [installation() / "bin" / "psql", "-X", "-v", "limit=2", "-v", "days=3", stocked.url]
    environment = {"LC_ALL": "C.UTF-8"}
    shown = subprocess.run(
        command,
        input="\n".join(
            [*settings, r"\echo <<<", rf"\i '{AUDIT / report}.sql'", r"\echo >>>", *settings]
        ),
        capture_output=True,
        encoding="utf-8",
        check=True,
        env=environment,
    ).stdout
    before, _, rest = shown.partition("<<<\n")
    after = rest.partition(">>>\n")[2]
    # what the last query left is psql's own
    own = re.compile(
        r"^(ROW_COUNT|SQLSTATE|ERROR|LAST_ERROR_\w+|PIPELINE_\w+) = .*\n", re.MULTILINE
    )
    assert own.sub("", after) == own.sub("", before)
    assert "limit = '2'" in before


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_looks_alike_whatever_the_session_is_set_to(stocked: Stocked, report: str) -> None:
    odd = [r"\pset format html", r"\pset expanded on", r"\pset null ?", r"\pset border 2", r"\t on"]
    plain = run(stocked.url, report)
    assert run(stocked.url, report, *odd).endswith(plain)


def test_overview_counts(stocked: Stocked) -> None:
    facts = {row[0]: row[1] for row in table(run(stocked.url, "overview")) if len(row) == 2}
    number = len(HOSTILE)
    assert facts["targets"] == str(number)
    assert facts["targets with edits since their last save"] == str(number)
    assert facts["attempts"] == str(3 * number)
    assert facts["accepted"] == str(number)
    assert facts["rejected"] == str(2 * number)
    assert facts["share of rejected attempts"] == "66.7 %"
    with psycopg.connect(stocked.url) as connection:
        newest = "select to_char(max({}), 'YYYY-MM-DD HH24:MI:SS') from patchdiff.{}"
        attempt = newest.format("created_at", "append_only_pdcp_logs")
        text = newest.format("content_changed_at", "cloud_target_files")
        assert connection.execute(attempt.encode()).fetchone() == (facts["newest attempt"],)
        assert connection.execute(text.encode()).fetchone() == (facts["newest text"],)


def test_attempts_of_a_target(stocked: Stocked) -> None:
    printed = run(stocked.url, "attempts", target=stocked.targets["escapes"])
    shown = r"\x1b[31mred\x1b[0m"
    title = printed.split("\n")[0]
    assert title.startswith(rf"Attempts, newest first: escapes {shown[:10]}")
    assert title.endswith(f"({stocked.targets['escapes']}), version 1")
    rows = table(printed)[1:]
    assert [row[2:5] for row in rows] == [
        ["rejected", "1", f"{shown[:15]}…"],
        ["rejected", "1", f"{shown[:15]}…"],
        ["accepted", "0", f"{shown[:15]}…"],
    ]
    assert [row[5].split(":")[0] for row in rows[:2]] == [
        "target_version_mismatch",
        "match_absent",
    ]
    assert rows[2][5].startswith(shown)
    assert int(rows[0][0]) > int(rows[1][0]) > int(rows[2][0])
    limited = run(stocked.url, "attempts", target=stocked.targets["escapes"], limit=1)
    assert table(limited)[1:] == rows[:1]


def test_changes_show_both_texts_beside_each_other(stocked: Stocked) -> None:
    texts = {
        name: table(run(stocked.url, "changes", target=target))[1][3:]
        for name, target in stocked.targets.items()
    }
    assert texts["lines"] == [
        r"one\ntwo\nthree\tfour\x0bfive\x0cs…",
        r"one\ntwo\nthree\tfour\x0bfive\x0cs…",
    ]
    assert texts["wide"] == ["漢字かな交じり文漢字かな交じり文漢…"] * 2
    assert texts["long"] == ["x" * 34 + "…"] * 2
    assert texts["directions"][0] == r"\u202eabc\u202c\u2066def\u2069 אב …"
    assert texts["psql"][0] == r"' :target :'limit' \\q \\! true ; …"


def test_failures_by_reason_and_by_target(stocked: Stocked) -> None:
    rows = table(run(stocked.url, "failures"))
    number = str(len(HOSTILE))
    by_reason = [row for row in rows if len(row) == 6][1:]
    assert [row[:5] for row in by_reason] == [
        ["match_absent", "", number, "33.3", number],
        ["target_version_mismatch", "", number, "33.3", number],
    ]
    by_target = [row for row in rows if len(row) == 5][1:]
    assert {row[1] for row in by_target} == set(stocked.targets.values())
    assert {tuple(row[2:]) for row in by_target} == {("2", "3", "66.7")}


def test_failures_of_the_last_days_only(stocked: Stocked) -> None:
    assert "last 0 days" in (printed := run(stocked.url, "failures", days=0))
    assert table(printed)[1:] == [["filename", "target_file_id", "rejections", "attempts", "%"]]
    assert table(run(stocked.url, "who", days=0))[1:] == []


def test_who_made_proposals(stocked: Stocked) -> None:
    rows = table(run(stocked.url, "who"))[1:]
    assert len(rows) == len(HOSTILE)
    assert {tuple(row[4:]) for row in rows} == {("1", "2")}
    assert r"\x1b[31mred\x1b[0m\x1b]0;t…" in {row[0] for row in rows}
    assert len(table(run(stocked.url, "who", limit=2))[1:]) == 2


def test_open_cycles_are_those_with_edits(stocked: Stocked) -> None:
    with psycopg.connect(stocked.url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        untouched = document(caller, "untouched")["target_file_id"]
        edited = document(caller, "a")["target_file_id"]
        accepted(caller, edited, change("a", "b"))
        accepted(caller, edited, change("b", "c"), expected_target_version=1)
        try:
            rows = table(run(stocked.url, "open_cycles"))[1:]
            assert rows[0][:2] == ["t.txt", edited]
            assert rows[0][3:5] == ["2", "2"]
            assert {row[1] for row in rows} == {edited, *stocked.targets.values()}
            connection.execute("select patchdiff.save(target_file_id => %s)", [edited])
            rows = table(run(stocked.url, "open_cycles"))[1:]
            assert {row[1] for row in rows} == set(stocked.targets.values())
        finally:
            remove(connection, untouched, edited)


def test_integrity_finds_what_was_altered(stocked: Stocked) -> None:
    rows = table(run(stocked.url, "integrity"))[1:]
    assert {row[1] for row in rows} == set(stocked.targets.values())
    assert {(row[2], row[3]) for row in rows} == {("intact", "")}
    with psycopg.connect(stocked.url, autocommit=True) as connection:
        caller = ServiceCaller(Service(connection))
        damaged = document(caller, "a", filename="damaged")["target_file_id"]
        accepted(caller, damaged, change("a", "b"))
        try:
            connection.execute(
                "update patchdiff.cloud_target_files set current_content = 'c' "
                "where target_file_id = %s",
                [damaged],
            )
            rows = table(run(stocked.url, "integrity", limit=2))[1:]
            assert len(rows) == 3
            assert rows[:2] == [
                ["damaged", damaged, "damaged", f"replay: {code}"]
                for code in ("content_differs", "recomputed_hash_differs")
            ]
            assert rows[2][2:] == ["intact", ""]
        finally:
            remove(connection, damaged)


def remove(connection: psycopg.Connection[Any], *targets: str) -> None:
    """Take targets out of the database, as nobody but a superuser can."""
    for table_name in ("append_only_pdcp_logs", "manifest_ledger"):
        name = sql.Identifier("patchdiff", table_name)
        connection.execute(sql.SQL("alter table {} disable trigger append_only").format(name))
    with connection.transaction():
        connection.execute("set local session_replication_role = replica")
        for table_name in (
            "manifest_ledger",
            "append_only_pdcp_logs",
            "target_snapshots",
            "editing_cycles",
            "cloud_target_files",
        ):
            connection.execute(
                sql.SQL("delete from {} where target_file_id = any(%s::uuid[])").format(
                    sql.Identifier("patchdiff", table_name)
                ),
                [list(targets)],
            )
    for table_name in ("append_only_pdcp_logs", "manifest_ledger"):
        name = sql.Identifier("patchdiff", table_name)
        connection.execute(sql.SQL("alter table {} enable always trigger append_only").format(name))


@pytest.mark.parametrize("report", ["attempts", "changes"])
@pytest.mark.parametrize(
    "target",
    ["00000000-0000-4000-8000-000000000000", "x", "'; drop table t; --", "\x1b[31m", r"\q :limit"],
)
def test_a_target_that_is_none_is_said_to_be_none(
    stocked: Stocked, report: str, target: str
) -> None:
    printed = run(stocked.url, report, target=target)
    assert "no target: none has the id " in printed.split("\n")[0]
    assert_readable(printed)
    assert len(table(printed)) == 1


@pytest.mark.parametrize("report", ["attempts", "changes"])
def test_without_a_target_it_is_the_one_that_was_changed_last(
    stocked: Stocked, report: str
) -> None:
    *_, last = stocked.targets.values()
    assert f"({last})" in run(stocked.url, report).split("\n")[0]


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_of_an_empty_database_is_a_report(fresh_database_url: str, report: str) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
    printed = run(fresh_database_url, report)
    assert_readable(printed)
    if report in ("attempts", "changes"):
        assert "no target: there is none" in printed


@pytest.fixture
def auditor(stocked: Stocked) -> Iterator[str]:
    """The URL of a login that may read all data and nothing else."""
    with psycopg.connect(stocked.url, autocommit=True) as connection:
        connection.execute("create role auditor_of_reports login in role pg_read_all_data")
        yield make_conninfo(stocked.url, user="auditor_of_reports")
        connection.execute("drop role auditor_of_reports")


def test_who_may_read_all_data_may_read_every_report_and_every_view(
    stocked: Stocked, auditor: str
) -> None:
    for report in REPORTS:
        assert run(auditor, report) == run(stocked.url, report)
    with (
        psycopg.connect(auditor, autocommit=True) as mine,
        psycopg.connect(stocked.url, autocommit=True) as admin,
    ):
        rows = admin.execute("select viewname from pg_views where schemaname = 'patchdiff'")
        views = [name for (name,) in rows.fetchall()]
        assert len(views) == 6
        for name in views:
            query = sql.SQL("select * from {} order by 1, 3").format(
                sql.Identifier("patchdiff", name)
            )
            assert mine.execute(query).fetchall() == admin.execute(query).fetchall()
        texts = "select count(*) from patchdiff.accepted_changes where new_text is not null"
        assert mine.execute(texts).fetchone() == (len(HOSTILE),)
        for forbidden in (
            "select patchdiff.initialize_target('f', 'x')",
            "select patchdiff._record_changes('patchdiff-tx/1', '')",
            "delete from patchdiff.cloud_target_files",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                mine.execute(forbidden)


@pytest.mark.parametrize("role", ["patchdiff_editor", "patchdiff_reader"])
def test_views_are_not_for_the_roles_of_the_interface(stocked: Stocked, role: str) -> None:
    with psycopg.connect(stocked.url, autocommit=True) as connection:
        connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select * from patchdiff.attempts")
