"""`patchdiff doctor`: what it reports when all is well, and what it says of each fault."""

import re
import sys
from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql

from patchdiff import doctor
from patchdiff.connect import Database
from patchdiff.schema import migrate
from tests.support.commands import run, settings
from tests.support.postgres import PostgresServer


def rows(output: str) -> dict[str, tuple[str, str]]:
    """The table of a report: the mark and what was found, by subject."""
    cells = re.findall(
        r"^[│|] *(ok|wrong) *[│|] *([^│|]*?) *[│|] *([^│|]*?) *[│|]$", output, re.MULTILINE
    )
    return {subject: (mark, found) for mark, subject, found in cells}


def advice(output: str, subject: str) -> str:
    """What is said to do about a subject, below the table."""
    [line] = [line for line in output.splitlines() if line.startswith(f"{subject}: ")]
    return line


@pytest.mark.req("CMD-016")
def test_all_is_well(database_url: str) -> None:
    told = run(
        "doctor",
        PATCHDIFF_DATABASE_URL=database_url,
        PATCHDIFF_PLASTIC_CM=sys.executable,
        PATCHDIFF_PLASTIC_DIFF="sh",
        COLUMNS="250",
    )
    assert (told.returncode, told.stderr) == (0, "")
    report = rows(told.stdout)
    assert {mark for mark, _ in report.values()} == {"ok"}
    with psycopg.connect(database_url) as connection:
        [version] = connection.execute("show server_version").fetchone() or ()
        [number] = (
            connection.execute(
                "select max(migration_number) from patchdiff.schema_migrations"
            ).fetchone()
            or ()
        )
    assert report["server version"] == ("ok", version)
    assert report["encoding"] == ("ok", "UTF8")
    assert report["schema"] == ("ok", f"current, migration {number}")
    assert re.fullmatch(
        r"EXECUTE on (\d+) of the \1 functions of patchdiff_editor", report["privileges"][1]
    )
    assert report["profile"] == ("ok", "full")
    assert report["PATCHDIFF_PLASTIC_CM"] == ("ok", sys.executable)
    assert report["PATCHDIFF_PLASTIC_DIFF"][1].endswith("/sh")
    assert report["PATCHDIFF_PLASTIC_PATCH_TOOL"] == ("ok", "not set")


def newer(connection: psycopg.Connection[object]) -> None:
    migrate(connection)
    connection.execute(
        "insert into patchdiff.schema_migrations (migration_number, migration_name, sha256) "
        "values (9999, 'future', repeat('0', 64))"
    )


def older(connection: psycopg.Connection[object]) -> None:
    migrate(connection)
    connection.execute("update patchdiff.schema_functions set sha256 = repeat('0', 64)")


@pytest.mark.req("CMD-017")
@pytest.mark.parametrize(
    ("prepare", "found", "to_do"),
    [
        (lambda _: None, "missing", "run patchdiff migrate"),
        (older, "older", "run patchdiff migrate"),
        (newer, "newer", "use the newer version"),
    ],
    ids=["missing", "older", "newer"],
)
def test_a_schema_of_another_version(
    fresh_database_url: str,
    prepare: Callable[[psycopg.Connection[object]], None],
    found: str,
    to_do: str,
) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        prepare(connection)
    told = run("doctor", PATCHDIFF_DATABASE_URL=fresh_database_url, COLUMNS="250")
    assert told.returncode == 1
    mark, state = rows(told.stdout)["schema"]
    assert (mark, state.split(",")[0]) == ("wrong", found)
    assert to_do in advice(told.stdout, "schema")


@pytest.mark.req("CMD-016", "CMD-017")
def test_another_encoding(postgres: PostgresServer, database_url: str) -> None:
    name = "doctor_latin"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} encoding 'LATIN1' locale 'C' template template0").format(
                sql.Identifier(name)
            )
        )
    try:
        url = psycopg.conninfo.make_conninfo(database_url, dbname=name)
        told = run("doctor", PATCHDIFF_DATABASE_URL=url, COLUMNS="250")
        assert told.returncode == 1
        assert rows(told.stdout)["encoding"] == ("wrong", "LATIN1")
        assert "ENCODING 'UTF8' from template0" in advice(told.stdout, "encoding")
    finally:
        postgres.drop_database(name)


@pytest.mark.req("CMD-017")
def test_a_server_that_is_too_old(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "OLDEST_SERVER", 990000)
    monkeypatch.setenv("COLUMNS", "250")
    assert doctor.run(settings(DATABASE_URL=database_url)) == 1
    output = capsys.readouterr().out
    assert rows(output)["server version"][0] == "wrong"
    assert "PostgreSQL 16 or newer" in advice(output, "server version")


@pytest.mark.req("CMD-017")
def test_a_profile_that_would_not_start(database_url: str) -> None:
    told = run(
        "doctor",
        PATCHDIFF_DATABASE_URL=database_url,
        PATCHDIFF_MCP_PROFILE="workspace",
        PATCHDIFF_PLASTIC_PATCH_TOOL="no-such-program",
        COLUMNS="250",
    )
    assert told.returncode == 1
    report = rows(told.stdout)
    assert report["profile"] == ("wrong", "workspace")
    assert "PATCHDIFF_WORKSPACE_ROOT" in advice(told.stdout, "profile")
    assert report["PATCHDIFF_PLASTIC_PATCH_TOOL"][0] == "wrong"
    assert "install it, or correct the variable" in advice(
        told.stdout, "PATCHDIFF_PLASTIC_PATCH_TOOL"
    )
    assert Database(settings(DATABASE_URL=database_url)).role == "patchdiff_editor"


@pytest.mark.req("CMD-017")
def test_a_database_that_is_not_there(database_url: str) -> None:
    url = psycopg.conninfo.make_conninfo(database_url, dbname="no_such_database")
    told = run("doctor", PATCHDIFF_DATABASE_URL=url, COLUMNS="250")
    assert told.returncode == 1
    assert "no_such_database" in rows(told.stdout)["connection"][1]
    assert "PATCHDIFF_DATABASE_URL" in advice(told.stdout, "connection")
