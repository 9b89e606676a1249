"""The commands on the embedded server."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from patchdiff.connect import Database
from patchdiff.embedded import EmbeddedServer
from patchdiff.embedded_account import installation
from tests.support.commands import run, settings
from tests.support.embedded import answers, postmaster
from tests.support.stdio import StdioClient


def wait_until_stopped(home: Path) -> None:
    deadline = time.monotonic() + 30
    while (home / "data/postmaster.pid").exists():
        assert time.monotonic() < deadline, "the embedded server still runs"
        time.sleep(0.02)


@pytest.mark.usefixtures("cold")
@pytest.mark.req("CMD-004", "CMD-006", "CMD-010")
def test_server_without_a_url_uses_and_migrates_the_embedded_database(home: Path) -> None:
    client = StdioClient({"PATCHDIFF_HOME": str(home)})
    try:
        made = client.call("patchdiff_initialize_target", filename="a.txt", content="x")
        url = f"postgresql://patchdiff@/patchdiff?host={home}/data&port=5432"
        with psycopg.connect(url) as connection:
            rows = connection.execute(
                "select target_file_id::text from patchdiff.cloud_target_files"
            ).fetchall()
        assert rows == [(made["target_file_id"],)]
        sessions = "select count(*) from pg_stat_activity where application_name = 'patchdiff'"
        with psycopg.connect(url) as connection:
            assert connection.execute(sessions).fetchone() == (1,)
    finally:
        assert client.close() == 0
    wait_until_stopped(home)
    # the next one finds what the first left
    client = StdioClient({"PATCHDIFF_HOME": str(home)})
    try:
        found = client.call("patchdiff_get_target", target_file_id=made["target_file_id"])
        assert found["current_content"] == "x"
    finally:
        client.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms do not use XDG_DATA_HOME")
@pytest.mark.req("CMD-004", "CMD-006")
def test_embedded_server_is_in_the_users_data_directory_by_default(tmp_path: Path) -> None:
    told = run("url", XDG_DATA_HOME=str(tmp_path / "share"))
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "share/patchdiff/data/PG_VERSION").read_text() == "18\n"
    shutil.rmtree(tmp_path / "share")


@pytest.mark.req("CMD-015")
def test_url_of_the_embedded_server_is_one_that_psql_accepts(home: Path) -> None:
    with EmbeddedServer(home):
        told = run("url", PATCHDIFF_HOME=str(home))
        assert (told.returncode, told.stderr) == (0, "")
        url = told.stdout.removesuffix("\n")
        answer = subprocess.run(
            [installation() / "bin/psql", url, "-XAtc", "select current_database()"],
            capture_output=True,
            text=True,
        )
        assert (answer.returncode, answer.stdout) == (0, "patchdiff\n"), answer.stderr
    # as the help says: it leads nowhere when no process uses the server
    assert not answers(url)
    assert "while some patchdiff process uses it" in run("url", "--help").stdout


@pytest.mark.parametrize(
    ("name", "value"),
    [("PGSERVICE", "nowhere"), ("PGHOSTADDR", "192.0.2.1"), ("PGHOST", "/nowhere")],
)
def test_variables_of_libpq_do_not_lead_away_from_the_embedded_server(
    home: Path, name: str, value: str
) -> None:
    told = run("psql", "-XAtc", "select 42", PATCHDIFF_HOME=str(home), **{name: value})
    assert (told.returncode, told.stdout, told.stderr) == (0, "42\n", "")


def test_psql_runs_on_the_embedded_server_and_stops_it_afterwards(home: Path) -> None:
    told = run("psql", "-XAt", PATCHDIFF_HOME=str(home), stdin="select 6 * 7;\n")
    assert (told.returncode, told.stdout, told.stderr) == (0, "42\n", "")
    assert not (home / "data/postmaster.pid").exists()


def test_doctor_is_content_with_the_embedded_server_once_it_is_migrated(home: Path) -> None:
    told = run("doctor", PATCHDIFF_HOME=str(home))
    assert told.returncode == 1
    assert "patchdiff migrate" in told.stdout
    assert run("migrate", PATCHDIFF_HOME=str(home)).returncode == 0
    told = run("doctor", PATCHDIFF_HOME=str(home))
    assert (told.returncode, told.stderr) == (0, "")
    assert "18." in told.stdout
    assert "UTF8" in told.stdout
    assert "wrong" not in told.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_server_that_is_told_to_end_stops_the_embedded_one(
    home: Path, number: signal.Signals
) -> None:
    client = StdioClient({"PATCHDIFF_HOME": str(home)})
    try:
        assert (home / "data/postmaster.pid").exists()
        client.process.send_signal(number)
        assert client.process.wait(30) != 0
        wait_until_stopped(home)
        assert "Traceback" not in client.stderr
    finally:
        client.close()


def test_service_connection_comes_back_after_the_server_was_killed(home: Path) -> None:
    with contextlib.closing(Database(settings(HOME=home))) as database:
        first = database.service_connection()
        assert database.service_connection() is first
        os.kill(postmaster(home), signal.SIGKILL)
        first.close()
        second = database.service_connection()
        assert second is not first
        assert second.execute("select current_user").fetchone() == ("patchdiff_editor",)
    wait_until_stopped(home)


@pytest.mark.parametrize(
    ("profile", "role"), [("full", "patchdiff_editor"), ("reader", "patchdiff_reader")]
)
def test_service_of_the_embedded_server_has_the_profiles_role_only(
    home: Path, profile: str, role: str
) -> None:
    with contextlib.closing(Database(settings(HOME=home, MCP_PROFILE=profile))) as database:
        connection = database.service_connection()
        assert connection.autocommit
        assert connection.info.encoding == "utf-8"
        assert connection.execute("select current_user").fetchone() == (role,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select from patchdiff.cloud_target_files")
