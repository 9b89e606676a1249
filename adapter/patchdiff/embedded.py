"""The embedded PostgreSQL server: started when it is needed, stopped by the last process to leave.

Every process that uses the server of a home directory holds a shared lock there for as long as it
lives. Whoever leaves and finds no other lock stops the server. A process that is killed cannot stop
it, and need not: the kernel drops its lock, and the next one to leave does.
"""

import atexit
import fcntl
import logging
import os
import signal
import subprocess
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psycopg
from psycopg import pq

from patchdiff.embedded_account import (
    Account,
    EmbeddedServerError,
    choose_account,
    server_binaries,
)
from patchdiff.embedded_home import PORT, EmbeddedHome
from patchdiff.embedded_process import (
    IDENTITY_SETTING,
    SUPERUSER,
    check_version,
    failure,
    initialize,
    remove_stale_files,
    request_stop,
    spawn,
)

__all__ = ["DATABASE", "EmbeddedServer", "EmbeddedServerError"]

LOGGER = logging.getLogger("patchdiff")

DATABASE = "patchdiff"
"""Name of the database in the server."""

START_SECONDS = 300.0
"""How long a start may take; crash recovery of a large database takes its time."""

STOP_SECONDS = 60.0
"""How long a shutdown may take before the process that asked for it leaves all the same."""

POLL_SECONDS = 0.02


class EmbeddedServer:
    """The PostgreSQL 18 server of one home directory, shared by all processes that name it.

    `start` may be called again at any time, and brings back a server that has died. Objects can be
    used from several threads; a forked child counts as a user until it releases or ends. Only the
    user who owns the directory can connect: through a Unix socket in it, never over a network.
    """

    def __init__(self, home: Path) -> None:
        self._path = home.absolute()
        self._home: EmbeddedHome | None = None
        self._users: int | None = None
        self._pid = os.getpid()
        self._guard = threading.RLock()

    def start(self) -> None:
        """Make sure that the server runs and has its database, and stay one of its users.

        Raises EmbeddedServerError, with what to do, when it cannot be.
        """
        with self._locked():
            try:
                self._start()
            except EmbeddedServerError:
                raise
            except (OSError, subprocess.SubprocessError) as error:
                reason = getattr(error, "strerror", None) or error
                raise EmbeddedServerError(
                    f"cannot run the embedded server in {str(self._path)!r}: {reason}"
                ) from None

    def url(self, role: str | None = None, database: str = DATABASE) -> str:
        """The libpq URI of a database in the running server.

        Sessions act as `role` from their first statement, or as the superuser without one. Raises
        EmbeddedServerError before `start`.
        """
        if self._home is None:
            raise EmbeddedServerError("the embedded server has not been started")
        host = quote(self._home.socket_directory(), safe="/")
        url = f"postgresql://{SUPERUSER}@/{quote(database, safe='')}?host={host}&port={PORT}"
        return url if role is None else f"{url}&options={quote(f'-c role={role}', safe='')}"

    def release(self) -> None:
        """Use the server no more; the last user stops it. Does nothing when it is not in use."""
        with self._locked():
            if self._users is None or self._home is None:
                return
            atexit.unregister(self.release)
            os.close(self._users)
            self._users = None
            try:
                self._leave(self._home)
            except FileNotFoundError:
                # the whole directory is gone, and with it everything there was to stop
                return

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _locked(self) -> AbstractContextManager[bool]:
        if self._pid != os.getpid():
            # in a forked child, where a thread of the parent may have held the lock
            self._guard = threading.RLock()
            self._pid = os.getpid()
        return self._guard

    def _start(self) -> None:
        home = EmbeddedHome.prepare(self._path)
        home.socket_directory()
        mutex = _mutex(home, START_SECONDS)
        try:
            self._become_user(home)
            account = choose_account(home.data)
            deadline = time.monotonic() + START_SECONDS
            while not _answers(home):
                server_lock = home.lock(".server", fcntl.LOCK_EX, 0)
                if server_lock is not None:
                    try:
                        _launch(home, account, server_lock)
                    finally:
                        os.close(server_lock)
                elif time.monotonic() >= deadline:
                    raise EmbeddedServerError(
                        f"the embedded server in {str(home.path)!r} lives but does not answer: "
                        f"see {str(home.log)!r}"
                    )
                else:
                    # it starts, recovers or stops, or an initialization has outlived its process
                    time.sleep(POLL_SECONDS)
            _check_database(home)
        except BaseException:
            self._forget_user()
            raise
        finally:
            os.close(mutex)

    def _become_user(self, home: EmbeddedHome) -> None:
        previous = self._users
        self._users = home.lock(".users", fcntl.LOCK_SH, STOP_SECONDS)
        self._home = home
        if previous is not None:
            # of an earlier start, or shared with the parent of this process
            os.close(previous)
        if self._users is None:
            raise EmbeddedServerError(f"cannot lock {str(home.path / '.users')!r}")
        atexit.unregister(self.release)
        atexit.register(self.release)

    def _forget_user(self) -> None:
        if self._users is not None:
            os.close(self._users)
            self._users = None
        atexit.unregister(self.release)

    def _leave(self, home: EmbeddedHome) -> None:
        home.path.stat()
        mutex = _mutex(home, STOP_SECONDS)
        try:
            # not at once: a child that another thread is starting holds a copy of our lock until it
            # has become another program
            users = home.lock(".users", fcntl.LOCK_EX, 0.1)
            if users is None:
                return
            try:
                _stop(home)
            finally:
                os.close(users)
        finally:
            os.close(mutex)


def _mutex(home: EmbeddedHome, seconds: float) -> int:
    descriptor = home.lock(".mutex", fcntl.LOCK_EX, seconds)
    if descriptor is None:
        raise EmbeddedServerError(
            f"another process has been starting or stopping the server in {str(home.path)!r} "
            f"for {seconds:.0f} seconds"
        )
    return descriptor


def _conninfo(home: EmbeddedHome, database: str) -> str:
    return psycopg.conninfo.make_conninfo(
        host=home.socket_directory(),
        port=PORT,
        user=SUPERUSER,
        dbname=database,
        options="",
        connect_timeout=5,
        application_name="patchdiff start",
    )


def _answers(home: EmbeddedHome) -> bool:
    if not home.data.exists():
        return False
    answer = pq.PGconn.ping(_conninfo(home, "postgres").encode())
    return pq.Ping(answer) is pq.Ping.OK


def _launch(home: EmbeddedHome, account: Account, server_lock: int) -> None:
    home.remove_leftovers()
    binaries = server_binaries(account)
    if not home.data.exists():
        initialize(home, binaries, account, server_lock)
    check_version(home, binaries)
    remove_stale_files(home, account)
    log_start = home.log.stat().st_size if home.log.exists() else 0
    process = spawn(home, binaries, account, server_lock)
    try:
        _wait(home, process, log_start)
    except BaseException:
        # a server that nobody waits for is not left behind
        process.send_signal(signal.SIGQUIT)
        process.wait()
        raise
    # the server outlives this process or not: when not, it is not left behind as a zombie
    threading.Thread(target=process.wait, name="patchdiff-server", daemon=True).start()


def _wait(home: EmbeddedHome, process: "subprocess.Popen[bytes]", log_start: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(home):
        if process.poll() is not None:
            raise EmbeddedServerError(
                f"the embedded server in {str(home.path)!r} does not start: "
                f"{failure(home, log_start)}"
            )
        if time.monotonic() >= deadline:
            raise EmbeddedServerError(
                f"the embedded server in {str(home.path)!r} is not ready after "
                f"{START_SECONDS:.0f} seconds: see {str(home.log)!r}"
            )
        time.sleep(POLL_SECONDS)


def _check_database(home: EmbeddedHome) -> None:
    for database in (DATABASE, "postgres"):
        try:
            connection = psycopg.connect(_conninfo(home, database), autocommit=True)
        except psycopg.OperationalError as error:
            problem = error
            continue
        with connection:
            row = connection.execute(
                "select pg_catalog.current_setting(%s, true)", [IDENTITY_SETTING]
            ).fetchone()
            if row is None or row[0] != home.identity():
                raise EmbeddedServerError(
                    f"a server that PatchDIFF did not start runs in {str(home.data)!r}: "
                    "stop it first"
                )
            if database != DATABASE:
                connection.execute(f"create database {DATABASE}")
        return
    raise EmbeddedServerError(f"the embedded server refuses connections: {problem}")


def _stop(home: EmbeddedHome) -> None:
    if not request_stop(home, choose_account(home.data)):
        return
    # the server's lock is free when its last process has ended
    server_lock = home.lock(".server", fcntl.LOCK_EX, STOP_SECONDS)
    if server_lock is None:
        LOGGER.warning(
            "patchdiff: the embedded server is still stopping after %.0f seconds", STOP_SECONDS
        )
        return
    os.close(server_lock)
    home.remove_link()
