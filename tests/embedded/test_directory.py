"""The embedded server's directory: who gets at it, where it may be, and what is refused."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from patchdiff.embedded import EmbeddedServer, EmbeddedServerError
from patchdiff.embedded_account import choose_account, installation, server_binaries
from tests.support.embedded import AS_ROOT, answers, ask, clear, mode, needs_root, postmaster, run


@pytest.mark.usefixtures("cold")
def test_nobody_else_gets_at_the_directory(home: Path) -> None:
    with EmbeddedServer(home):
        assert mode(home) == 0o700
        assert mode(home / "data") == 0o700
        assert mode(home / "postgresql.log") == 0o600
        assert mode(home / "data/.s.PGSQL.5432") & 0o077 == 0
        assert {mode(home / name) for name in (".mutex", ".users", ".server")} == {0o600}
        assert home.stat().st_uid == os.geteuid()


@pytest.mark.usefixtures("cold")
def test_empty_directory_with_open_modes_is_closed(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    with EmbeddedServer(home):
        assert mode(home) == 0o700


@pytest.mark.usefixtures("cold")
def test_parents_stay_as_they_are(home: Path) -> None:
    before = [(path, path.stat().st_mode, path.stat().st_uid) for path in home.parents]
    with EmbeddedServer(home):
        pass
    assert [(path, path.stat().st_mode, path.stat().st_uid) for path in home.parents] == before


@needs_root
def test_another_user_cannot_connect() -> None:
    # below a directory that everybody can enter, so that only the home's own modes protect it
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        with EmbeddedServer(Path(parent) / "home") as server:
            program = server_binaries(choose_account(Path(parent) / "home/data")) / "pg_isready"
            arguments = [program, "--host", f"{parent}/home/data", "--username=patchdiff"]
            as_root = subprocess.run(arguments, cwd="/")
            as_other = subprocess.run(arguments, cwd="/", user=54321, group=54321, extra_groups=[])
            assert answers(server.url())
    # 0: accepts connections; 2: no answer
    assert (as_root.returncode, as_other.returncode) == (0, 2)


@needs_root
def test_root_runs_the_server_as_another_account_below_closed_parents(home: Path) -> None:
    home.parent.chmod(0o700)
    with EmbeddedServer(home) as server:
        assert Path(f"/proc/{postmaster(home)}").stat().st_uid != 0
        run(server.url(), "create table kept as select 7 as n")
        os.kill(postmaster(home), signal.SIGKILL)
        server.start()
        assert ask(server.url(), "select n from kept") == 7
        assert Path(f"/proc/{postmaster(home)}").stat().st_uid == (home / "data").stat().st_uid != 0
    assert mode(home.parent) == 0o700


@pytest.mark.parametrize("name", ["a b", 'it\'s "so"', "comma,and\nnewline", "größe %41 &x=y #1"])
def test_any_path_will_do(prepared: Path, tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    subprocess.run(["cp", "-a", prepared, home], check=True)
    with EmbeddedServer(home) as server:
        assert answers(server.url())
        program = installation() / "bin/psql"
        told = subprocess.run(
            [program, server.url(), "-XAtc", "select 6 * 7"], capture_output=True, text=True
        )
        assert (told.stdout, told.stderr) == ("42\n", "")
        assert (home / "data").is_dir()
    clear(home)


@pytest.fixture
def long_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pd-", dir="/tmp") as temporary:
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        path = tmp_path / ("deep" * 20) / ("deeper" * 20)
        yield path
        clear(path)


def test_path_longer_than_a_socket_name_is_reached_by_a_short_link(long_home: Path) -> None:
    with EmbeddedServer(long_home) as server:
        host = psycopg.conninfo.conninfo_to_dict(server.url())["host"]
        assert isinstance(host, str)
        assert len(f"{host}/.s.PGSQL.5432") <= 103
        assert Path(host).readlink() == long_home / "data"
        assert mode(Path(host).parent) == 0o700
        assert ask(server.url(), "show server_version").startswith("18.")
    assert not Path(host).is_symlink()


@pytest.mark.parametrize("obstacle", ["open to others", "link", "file"])
def test_short_link_is_not_made_in_a_directory_of_others(long_home: Path, obstacle: str) -> None:
    temporary = Path(tempfile.gettempdir())
    directory = temporary / f"patchdiff-{os.geteuid()}"
    if obstacle == "open to others":
        directory.mkdir()
        directory.chmod(0o777)
    elif obstacle == "link":
        (temporary / "elsewhere").mkdir(mode=0o700)
        directory.symlink_to(temporary / "elsewhere")
    else:
        directory.touch(0o700)
    with pytest.raises(EmbeddedServerError):
        EmbeddedServer(long_home).start()
    assert [path.name for path in temporary.rglob("*") if path.name != "elsewhere"] == [
        directory.name
    ]


@needs_root
def test_short_link_is_not_made_in_another_owners_directory(long_home: Path) -> None:
    directory = Path(tempfile.gettempdir()) / "patchdiff-0"
    directory.mkdir(mode=0o700)
    os.chown(directory, 54321, 54321)
    with pytest.raises(EmbeddedServerError, match="alone"):
        EmbeddedServer(long_home).start()
    assert list(directory.iterdir()) == []


def test_directory_of_another_owner_is_refused_and_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / "theirs"
    if AS_ROOT:
        directory.mkdir(mode=0o755)
        os.chown(directory, 54321, 54321)
    else:
        directory = Path("/")
    before = directory.stat()
    with pytest.raises(EmbeddedServerError, match="belongs to another user") as refusal:
        EmbeddedServer(directory).start()
    assert "\n" not in str(refusal.value)
    after = directory.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (
        before.st_mode,
        before.st_uid,
        before.st_mtime,
    )


@needs_root
def test_data_of_another_owner_are_refused_and_left_alone(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    os.chown(home / "data", 54321, 54321)
    with pytest.raises(EmbeddedServerError, match="belongs to another user"):
        EmbeddedServer(home).start()
    assert (home / "data").stat().st_uid == 54321


@pytest.mark.usefixtures("cold")
def test_directory_with_other_things_in_it_is_refused_and_left_alone(home: Path) -> None:
    home.mkdir(mode=0o755)
    (home / "thesis.txt").write_text("mine")
    with pytest.raises(EmbeddedServerError, match="not empty"):
        EmbeddedServer(home).start()
    assert [path.name for path in home.iterdir()] == ["thesis.txt"]
    assert mode(home) == 0o755


def test_data_of_another_major_version_are_refused_and_left_alone(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    (home / "data/PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedServerError, match=r"PostgreSQL 17.*PostgreSQL 18.*pg_dumpall"):
        EmbeddedServer(home).start()
    assert (home / "data/PG_VERSION").read_text() == "17\n"
    (home / "data/PG_VERSION").write_text("18\n")
    with EmbeddedServer(home) as server:
        assert answers(server.url())


def test_directory_that_is_gone_is_made_anew(home: Path) -> None:
    server = EmbeddedServer(home)
    server.start()
    moved = home.rename(home.with_name("moved"))
    server.start()
    assert postmaster(home) != postmaster(moved)
    assert answers(server.url())
    server.release()
    assert not answers(server.url())
    # the server of the moved directory is reached under its new name, and stopped there
    with EmbeddedServer(moved) as other:
        assert answers(other.url())
    assert not (moved / "data/postmaster.pid").exists()
    clear(moved)


def test_log_that_has_grown_large_is_put_aside(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    log = home / "postgresql.log"
    os.truncate(log, 10 * 1024 * 1024)
    with EmbeddedServer(home):
        pass
    assert not (home / "postgresql.log.1").exists()
    os.truncate(log, 10 * 1024 * 1024 + 1)
    with EmbeddedServer(home):
        pass
    assert (home / "postgresql.log.1").stat().st_size == 10 * 1024 * 1024 + 1
    assert log.stat().st_size < 10_000
