"""The embedded server's life: real servers, real kills."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from patchdiff.embedded import EmbeddedServer, EmbeddedServerError
from patchdiff.embedded_account import Account, choose_account, server_binaries
from tests.support.embedded import User, answers, ask, needs_proc, postmaster, run, wait_until


@pytest.mark.usefixtures("cold")
def test_server_is_postgresql_18_utf8_durable_and_has_no_network_port(home: Path) -> None:
    with EmbeddedServer(home) as server:
        url = server.url()
        expected = {
            "server_encoding": "UTF8",
            "listen_addresses": "",
            "fsync": "on",
            "full_page_writes": "on",
            "synchronous_commit": "on",
            "data_checksums": "on",
            "jit": "off",
        }
        found = {name: ask(url, f"show {name}") for name in expected}
        assert found == expected
        assert ask(url, "show server_version").startswith("18.")
        assert ask(url, "select datcollate from pg_database where datname = 'patchdiff'") == "C"
        assert ask(url, "select current_user || ' ' || current_database()") == "patchdiff patchdiff"


def test_url_names_the_role_that_sessions_act_as(home: Path) -> None:
    with EmbeddedServer(home) as server:
        run(server.url(), "create role patchdiff_reader nologin")
        assert ask(server.url("patchdiff_reader"), "select current_user") == "patchdiff_reader"
        assert ask(server.url(), "select current_user") == "patchdiff"


def test_several_processes_share_one_server_and_the_last_stops_it(
    start_user: Callable[..., User], home: Path
) -> None:
    first, second = start_user(), start_user()
    url = first.url
    assert second.url == url
    number = postmaster(home)
    first.leave()
    assert answers(url)
    assert postmaster(home) == number
    second.leave()
    assert not answers(url)
    assert not (home / "data/postmaster.pid").exists()


@pytest.mark.usefixtures("cold")
def test_six_processes_starting_at_once_start_one_server(
    start_user: Callable[..., User], home: Path
) -> None:
    users = [start_user() for _ in range(6)]
    urls = {user.url for user in users}
    assert len(urls) == 1
    log = (home / "postgresql.log").read_text()
    assert log.count("starting PostgreSQL") == 1
    for user in users[:-1]:
        user.leave()
    assert answers(*urls)
    users[-1].leave()
    assert not answers(*urls)


def test_runtime_directory_of_the_session_does_not_matter(
    start_user: Callable[..., User], tmp_path: Path, home: Path
) -> None:
    (tmp_path / "ssh").mkdir()
    first = start_user(XDG_RUNTIME_DIR=str(tmp_path / "ssh"))
    second = start_user(XDG_RUNTIME_DIR=str(tmp_path / "missing"))
    assert first.url == second.url
    assert (home / "postgresql.log").read_text().count("starting PostgreSQL") == 1


def test_postgresql_variables_of_the_environment_do_not_matter(
    start_user: Callable[..., User],
) -> None:
    user = start_user(
        PGPORT="1",
        PGUSER="x",
        PGOPTIONS="-c role=x",
        PGDATA="/x",
        PGHOST="/x",
        LC_ALL="tr_TR.UTF-8",
    )
    assert ask(user.url, "show port") == "5432"


def test_killed_user_counts_no_more(start_user: Callable[..., User]) -> None:
    first, second = start_user(), start_user()
    url = first.url
    assert second.url == url
    first.kill()
    assert answers(url)
    second.leave()
    assert not answers(url)


def test_server_outlives_the_kill_of_all_users_until_the_next_one_leaves(
    start_user: Callable[..., User], home: Path
) -> None:
    first, second = start_user(), start_user()
    url = first.url
    assert second.url == url
    number = postmaster(home)
    first.kill()
    second.kill()
    third = start_user()
    assert third.url == url
    assert postmaster(home) == number
    third.leave()
    assert not answers(url)


def test_killed_server_comes_back_for_the_same_process(home: Path) -> None:
    with EmbeddedServer(home) as server:
        run(server.url(), "create table kept as select 7 as n")
        os.kill(postmaster(home), signal.SIGKILL)
        server.start()
        assert ask(server.url(), "select n from kept") == 7
        server.start()
        assert (home / "postgresql.log").read_text().count("starting PostgreSQL") == 2


def test_killed_server_comes_back_for_another_process(
    start_user: Callable[..., User], home: Path
) -> None:
    # the first process stays, and never looks after its dead child
    first = start_user()
    url = first.url
    run(url, "create table kept as select 7 as n")
    os.kill(postmaster(home), signal.SIGKILL)
    second = start_user()
    assert second.url == url
    assert ask(url, "select n from kept") == 7
    second.leave()
    assert answers(url)
    first.leave()
    assert not answers(url)


@pytest.mark.usefixtures("cold")
def test_process_killed_while_it_initializes_spoils_nothing(
    start_user: Callable[..., User], home: Path
) -> None:
    first = start_user()
    wait_until(lambda: list(home.glob(".init-*/PG_VERSION")))
    first.kill()
    assert not (home / "data").exists()
    second = start_user()
    assert answers(second.url)
    assert list(home.glob(".init-*")) == []


def test_half_made_directories_are_removed(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    (home / ".init-half/base/1").mkdir(parents=True)
    (home / ".init-half/PG_VERSION").write_text("18\n")
    with EmbeddedServer(home) as server:
        assert answers(server.url())
    assert list(home.glob(".init-*")) == []


@pytest.mark.parametrize("content", ["", "1", "junk\n", "99999999\n"])
def test_broken_pid_file_does_not_stop_a_start(home: Path, content: str) -> None:
    with EmbeddedServer(home) as server:
        url = server.url()
    (home / "data/postmaster.pid").write_text(content)
    (home / "data/.s.PGSQL.5432.lock").write_text(content)
    with EmbeddedServer(home):
        assert answers(url)
    assert not answers(url)


def test_pid_file_that_names_a_living_process_does_not_stop_a_start(home: Path) -> None:
    with EmbeddedServer(home) as server:
        url = server.url()
    # of the account that runs the server: PostgreSQL by itself would take it for a server
    account = choose_account(home / "data")
    sleeper = account.popen(
        ["sleep", "600"], cwd=Path("/"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        text = f"{sleeper.pid}\n{home}/data\n{int(time.time())}\n5432\n.\n\n  1  1\nready\n"
        (home / "data/postmaster.pid").write_text(text)
        (home / "data/.s.PGSQL.5432.lock").write_text(text)
        with EmbeddedServer(home):
            assert answers(url)
        assert sleeper.poll() is None
        # nor is it taken for the server when there is one to stop
        (home / "data/postmaster.pid").write_text(text)
        server = EmbeddedServer(home)
        server.start()
        (home / "data/postmaster.pid").write_text(text)
        server.release()
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


def by_hand_command(account: Account) -> list[str]:
    options = ["-c", "listen_addresses=", "-c", "unix_socket_directories=."]
    return [str(server_binaries(account) / "postgres"), "-D", "/proc/self/cwd", *options]


@needs_proc
def test_server_started_by_hand_is_neither_shared_nor_harmed(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    account = choose_account(home / "data")
    by_hand = account.popen(
        [*by_hand_command(account), "-c", "port=5433"],
        cwd=home / "data",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"postgresql://patchdiff@/patchdiff?host={home}/data&port=5433"
    try:
        wait_until(lambda: answers(url))
        with pytest.raises(EmbeddedServerError, match="stop it first"):
            EmbeddedServer(home).start()
        assert answers(url)
    finally:
        by_hand.send_signal(signal.SIGQUIT)
        by_hand.wait()


@needs_proc
def test_server_started_by_hand_on_our_socket_is_not_taken_for_ours(home: Path) -> None:
    with EmbeddedServer(home) as server:
        url = server.url()
    account = choose_account(home / "data")
    by_hand = account.popen(
        by_hand_command(account),
        cwd=home / "data",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: answers(url))
        with pytest.raises(EmbeddedServerError, match="did not start"):
            EmbeddedServer(home).start()
        assert answers(url)
    finally:
        by_hand.send_signal(signal.SIGQUIT)
        by_hand.wait()


def test_servers_own_words_are_told_when_it_does_not_start(home: Path) -> None:
    with EmbeddedServer(home):
        pass
    with (home / "data/postgresql.conf").open("a") as file:
        file.write("no_such_setting = 1\n")
    with pytest.raises(EmbeddedServerError, match="contains errors") as refusal:
        EmbeddedServer(home).start()
    assert "\n" not in str(refusal.value)


def test_failed_start_is_no_user(home: Path, start_user: Callable[..., User]) -> None:
    with EmbeddedServer(home):
        pass
    (home / "data/PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedServerError):
        EmbeddedServer(home).start()
    (home / "data/PG_VERSION").write_text("18\n")
    user = start_user()
    url = user.url
    user.leave()
    assert not answers(url)


def test_two_objects_in_one_process_are_two_users(home: Path) -> None:
    first, second = EmbeddedServer(home), EmbeddedServer(home)
    first.start()
    second.start()
    first.release()
    first.release()
    assert answers(second.url())
    second.release()
    assert not answers(second.url())


def test_object_that_starts_again_is_a_user_again(
    home: Path, start_user: Callable[..., User]
) -> None:
    other = start_user()
    url = other.url
    server = EmbeddedServer(home)
    with server:
        pass
    server.start()
    other.leave()
    assert answers(url)
    server.release()
    assert not answers(url)


def test_threads_share_an_object(home: Path) -> None:
    server = EmbeddedServer(home)
    problems: list[BaseException] = []

    def work() -> None:
        try:
            server.start()
            assert answers(server.url())
        except BaseException as problem:  # noqa: BLE001 - reported below
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    server.release()
    assert not answers(server.url())


FORK_PROGRAM = """
import os, sys, time
from pathlib import Path
import psycopg
from patchdiff.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
child = os.fork()
if child == 0:
    {child}
    sys.exit(0)
{parent}
"""


def test_forked_child_that_ends_leaves_the_server_to_its_parent(home: Path) -> None:
    program = FORK_PROGRAM.format(
        child="server.release()",
        parent="print(os.waitpid(child, 0)[1], psycopg.connect(server.url()).info.server_version)",
    )
    told = subprocess.run(
        [sys.executable, "-c", program, home], capture_output=True, text=True, timeout=120
    )
    assert told.stdout.split()[0] == "0", told.stderr
    assert told.stdout.split()[1].startswith("18")
    assert not (home / "data/postmaster.pid").exists()


def test_forked_child_that_outlives_its_parent_keeps_the_server(home: Path) -> None:
    program = FORK_PROGRAM.format(
        child="sys.stdin.readline(); server.start(); "
        "print(psycopg.connect(server.url()).info.server_version, flush=True)",
        parent="server.release()",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.wait(120)
    log = home / "postgresql.log"
    assert "shut down" not in log.read_text().split("ready to accept")[-1]
    assert process.communicate("\n")[0].startswith("18")
    wait_until(lambda: not (home / "data/postmaster.pid").exists())
    assert log.read_text().count("starting PostgreSQL") == 1


def test_interrupt_at_the_terminal_does_not_reach_the_server(
    start_user: Callable[..., User],
) -> None:
    first, second = start_user(), start_user()
    url = first.url
    assert second.url == url
    os.killpg(first.process.pid, signal.SIGINT)
    first.process.wait(60)
    assert answers(url)


def test_url_before_the_start_is_refused(home: Path) -> None:
    with pytest.raises(EmbeddedServerError, match="not been started"):
        EmbeddedServer(home).url()
