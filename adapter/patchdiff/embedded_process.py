"""The programs of the embedded server: initdb, postgres, and what can be known of running ones."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from patchdiff.embedded_account import Account, EmbeddedServerError
from patchdiff.embedded_home import PORT, EmbeddedHome

SUPERUSER = "patchdiff"
"""The server's only user with a login, its superuser."""

IDENTITY_SETTING = "patchdiff.home"
"""Name of the setting by which a server tells whose it is."""

WORKING_DIRECTORY = Path("/proc/self/cwd")
"""On Linux the name of a process's own working directory, valid whatever lies above it."""

STALE_FILES = ("postmaster.pid", f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock")


def initialize(home: EmbeddedHome, binaries: Path, account: Account, server_lock: int) -> None:
    """Make the data directory, all or nothing.

    Raises EmbeddedServerError with initdb's own words when it fails.
    """
    made = Path(tempfile.mkdtemp(prefix=".init-", dir=home.path))
    try:
        if account.switch:
            os.chown(made, account.uid, account.gid)
        arguments = [str(binaries / "initdb"), "-D", _data_argument(made), "-U", SUPERUSER]
        arguments += ["-E", "UTF8", "--locale=C", "--auth-local=trust", "--auth-host=reject"]
        process = account.popen(
            [*arguments, "--no-instructions"],
            cwd=made,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[server_lock],
        )
        _, messages = process.communicate()
        if process.returncode != 0:
            raise EmbeddedServerError(
                f"initdb failed: {_last_error(messages) or f'exit status {process.returncode}'}"
            )
        made.rename(home.data)
        home.sync()
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def check_version(home: EmbeddedHome, binaries: Path) -> None:
    """Raise EmbeddedServerError unless the data are of the installed server's major version."""
    try:
        found = (home.data / "PG_VERSION").read_text("ascii", "replace").strip()
    except FileNotFoundError:
        raise EmbeddedServerError(
            f"{str(home.data)!r} is no PostgreSQL data directory: "
            "move it away or set PATCHDIFF_HOME to another directory"
        ) from None
    answer = subprocess.run(
        [binaries / "postgres", "--version"], capture_output=True, text=True, check=True
    ).stdout
    installed = re.sub(r".* (\d+)\..*", r"\1", answer.strip())
    if found != installed:
        raise EmbeddedServerError(
            f"the data in {str(home.data)!r} are PostgreSQL {found}'s and the installed server is "
            f"PostgreSQL {installed}: dump them with pg_dumpall of version {found}, "
            "restore the dump into a new PATCHDIFF_HOME"
        )


def spawn(
    home: EmbeddedHome, binaries: Path, account: Account, server_lock: int
) -> "subprocess.Popen[bytes]":
    """Start postgres and return at once. The server keeps `server_lock` open, and so locked."""
    settings = {
        "listen_addresses": "",
        # relative to the data directory, so the path that is bound is short and behind mode 0700
        "unix_socket_directories": ".",
        "unix_socket_permissions": "0700",
        "port": str(PORT),
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        "jit": "off",
        IDENTITY_SETTING: home.identity(),
    }
    arguments = [str(binaries / "postgres"), "-D", _data_argument(home.data)]
    for name, value in settings.items():
        arguments += ["-c", f"{name}={value}"]
    log = home.open_log()
    try:
        return account.popen(
            arguments, cwd=home.data, stdout=log, stderr=log, pass_fds=[server_lock]
        )
    finally:
        os.close(log)


def failure(home: EmbeddedHome, log_start: int) -> str:
    """The last complaint in the log after byte `log_start`, or where to look for one."""
    with home.log.open("rb") as log:
        log.seek(log_start)
        return _last_error(log.read()) or f"see {str(home.log)!r}"


def remove_stale_files(home: EmbeddedHome, account: Account) -> None:
    """Remove what a server that was killed left in the data directory.

    Only while holding `.server`, which no server of ours has then. PostgreSQL itself would take a
    process that happens to have an old number, or an empty file, for a running server. Raises
    EmbeddedServerError when a server that was started by hand runs there.
    """
    present = [path for name in STALE_FILES if os.path.lexists(path := home.data / name)]
    if not present:
        return
    foreign = next(_servers(home, account), None)
    if foreign is not None:
        raise EmbeddedServerError(
            f"process {foreign} runs in {str(home.data)!r} and is no server that PatchDIFF "
            "started: stop it first"
        )
    for path in present:
        path.unlink(missing_ok=True)


def request_stop(home: EmbeddedHome, account: Account) -> bool:
    """Ask the server for a fast shutdown. False when there is none, or none that is ours."""
    pid = _postmaster(home)
    if pid is None or not _runs_here(pid, home, account):
        return False
    try:
        os.kill(pid, signal.SIGINT)
    except ProcessLookupError:
        return False
    return True


def _data_argument(data: Path) -> str:
    # the server's own working directory: needs no access to the parents, and has no odd characters
    return str(WORKING_DIRECTORY if WORKING_DIRECTORY.is_symlink() else data)


def _postmaster(home: EmbeddedHome) -> int | None:
    try:
        descriptor = os.open(home.data / "postmaster.pid", os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        line = file.readline(20).strip()
    return int(line) if line.isdigit() and int(line) > 1 else None


def _servers(home: EmbeddedHome, account: Account) -> Iterator[int]:
    if WORKING_DIRECTORY.is_symlink():
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and _runs_here(int(entry.name), home, account):
                yield int(entry.name)
    else:
        pid = _postmaster(home)
        if pid is not None and _runs_here(pid, home, account):
            yield pid


def _runs_here(pid: int, home: EmbeddedHome, account: Account) -> bool:
    if WORKING_DIRECTORY.is_symlink():
        process = Path("/proc", str(pid))
        try:
            return process.stat().st_uid == account.uid and (process / "cwd").samefile(home.data)
        except OSError:
            return False
    answer = subprocess.run(
        ["ps", "-o", "uid=,comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    uid, _, command = answer.stdout.strip().partition(" ")
    return uid == str(account.uid) and Path(command.strip()).name == "postgres"


def _last_error(messages: bytes) -> str:
    lines = messages.decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if re.search(r"\b(FATAL|PANIC|error|fatal):", line)]
    return re.sub(r"^.*?\b(FATAL|PANIC|error|fatal):\s*", "", errors[-1]) if errors else ""
