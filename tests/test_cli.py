"""The commands, as processes of their own."""

import importlib.metadata
import os
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.support.commands import assert_refused, run, schema_dump
from tests.support.stdio import StdioClient

COMMANDS = ["mcp", "migrate", "url", "doctor", "psql"]


@pytest.mark.req("CMD-001")
def test_names_of_distribution_package_and_command() -> None:
    distribution = importlib.metadata.distribution("patchdiff-pg")
    [command] = [e for e in distribution.entry_points if e.group == "console_scripts"]
    assert (command.name, command.value) == ("patchdiff", "patchdiff.cli:main")
    program = Path(sys.executable).with_name("patchdiff")
    told = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert told.stdout.split() == ["patchdiff,", "version", distribution.version]
    import patchdiff

    assert patchdiff.__version__ == distribution.version


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATCHDIFF_DATABASE_URL", "mysql://u:s3cret@h/d"),
        ("PATCHDIFF_HOME", "relative"),
        ("PATCHDIFF_STRICT_OBSERVATION_MODE", "true"),
    ],
)
@pytest.mark.req("CMD-003", "CMD-007")
def test_invalid_setting_ends_every_command(
    tmp_path: Path, command: str, name: str, value: str
) -> None:
    line = assert_refused(run(command, **({"PATCHDIFF_HOME": str(tmp_path)} | {name: value})), name)
    assert "s3cret" not in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATCHDIFF_MCP_PROFILE", "everything"),
        ("PATCHDIFF_MCP_RESPONSE_MODE", "short"),
        ("PATCHDIFF_WORKSPACE_SYNC_ON_SAVE", "yes"),
        ("PATCHDIFF_STRICT_OBSERVATION_MODE", "2"),
        ("PATCHDIFF_WORKSPACE_ROOT", "relative"),
        ("PATCHDIFF_PLASTIC_CM", ""),
        ("PATCHDIFF_PLASTIC_DIFF", ""),
        ("PATCHDIFF_PLASTIC_PATCH_TOOL", ""),
        ("PATCHDIFF_PLASTIC_WORKSPACE", ""),
    ],
)
@pytest.mark.req("CMD-003", "CMD-007")
def test_invalid_setting_ends_the_server(tmp_path: Path, name: str, value: str) -> None:
    assert_refused(run("mcp", **{"PATCHDIFF_HOME": str(tmp_path), name: value}), name, repr(value))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("CMD-004")
def test_server_with_a_url_starts_no_embedded_one(database_url: str, tmp_path: Path) -> None:
    client = StdioClient(
        {"PATCHDIFF_DATABASE_URL": database_url, "PATCHDIFF_HOME": str(tmp_path / "home")}
    )
    try:
        client.call("patchdiff_initialize_target", filename="a.txt", content="x")
    finally:
        assert client.close() == 0
    assert not (tmp_path / "home").exists()


@pytest.mark.req("CMD-012")
def test_migrate_twice(fresh_database_url: str) -> None:
    first = run("migrate", PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert (first.returncode, first.stderr) == (0, "")
    assert "0001_tables" in first.stdout
    before = schema_dump(fresh_database_url)
    second = run("migrate", PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == "The schema is up to date.\n"
    assert schema_dump(fresh_database_url) == before
    told = run("mcp", PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.req("CMD-013")
def test_migrate_twice_at_once(fresh_database_url: str) -> None:
    told: list[subprocess.CompletedProcess[str]] = []

    def work() -> None:
        told.append(run("migrate", PATCHDIFF_DATABASE_URL=fresh_database_url))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(one.returncode, one.stderr) for one in told] == [(0, ""), (0, "")]
    assert sorted("0001_tables" in one.stdout for one in told) == [False, True]
    with psycopg.connect(fresh_database_url) as connection:
        assert connection.execute(
            "select count(*) = count(distinct migration_number), count(*) > 0, "
            "(select count(*) from patchdiff.schema_functions) from patchdiff.schema_migrations"
        ).fetchone() == (True, True, 1)


@pytest.mark.req("CMD-014")
def test_migrate_that_fails_halfway_leaves_everything_as_it_was(fresh_database_url: str) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        # in the way of the second migration's function, and found when the first has already run
        connection.execute(
            "create function public.refuse() returns event_trigger language plpgsql as "
            "$$ begin raise exception 'not today'; end $$"
        )
        connection.execute(
            "create event trigger refuse on ddl_command_end when tag in ('CREATE TRIGGER') "
            "execute function public.refuse()"
        )
    before = schema_dump(fresh_database_url)
    told = run("migrate", PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert_refused(told, "not today", "nothing is changed")
    assert schema_dump(fresh_database_url) == before


@pytest.mark.req("CMD-015")
def test_url_of_a_named_database_is_printed_as_it_was_given(database_url: str) -> None:
    told = run("url", PATCHDIFF_DATABASE_URL=database_url)
    assert (told.returncode, told.stdout, told.stderr) == (0, f"{database_url}\n", "")


def test_psql_passes_arguments_and_exit_status_on(database_url: str) -> None:
    given = {"PATCHDIFF_DATABASE_URL": database_url}
    told = run("psql", "-X", "-v", "ON_ERROR_STOP=1", "-c", "select nonsense", **given)
    assert told.returncode == 1
    assert "nonsense" in told.stderr
    told = run("psql", "-XAt", "--command=select current_database()", **given)
    assert told.stdout.strip() == conninfo_to_dict(database_url)["dbname"]


def test_psql_is_given_the_password_where_nobody_sees_it(tmp_path: Path) -> None:
    program = tmp_path / "psql"
    program.write_text('#!/bin/sh\necho "$@"\necho "$PGPASSWORD"\n')
    program.chmod(0o755)
    told = run(
        "psql",
        "-x",
        PATCHDIFF_DATABASE_URL="postgresql://u:s%203cret@h/d",
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    arguments, password = told.stdout.splitlines()
    assert password == "s 3cret"
    assert "3cret" not in arguments
    assert arguments.endswith(" -x")


def test_server_needs_its_standard_streams(tmp_path: Path) -> None:
    told = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m patchdiff.cli mcp <&-'],
        capture_output=True,
        text=True,
        env=os.environ | {"PATCHDIFF_HOME": str(tmp_path / "home")},
    )
    assert_refused(told, "standard input")
    assert not (tmp_path / "home").exists()


def test_server_does_without_what_only_other_commands_need() -> None:
    program = (
        "import sys, patchdiff.cli, patchdiff.server, patchdiff.connect\n"
        "print([name for name in ('rich', 'patchdiff.doctor', 'patchdiff.demo') "
        "if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout == "[]\n", told.stderr
