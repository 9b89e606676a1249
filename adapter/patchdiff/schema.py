"""The database schema: what its files are, how they get into a database, and what is in one.

One transaction runs bootstrap.sql, the migrations that the database has not seen, and all function
and view files. `migrate` does so over a connection; `db/install.sql`, written by `install_script`,
does the same through psql.
"""

import enum
import hashlib
import importlib.resources
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import errors, sql
from psycopg.pq import TransactionStatus

from patchdiff.settings import StartupError

OLDEST_SERVER = 160000
"""server_version_num of the oldest PostgreSQL that will do."""


class SchemaError(StartupError):
    """The schema of a database cannot be used or installed. The text says what to do."""


@dataclass(frozen=True)
class Migration:
    """One file of db/migrations: it runs once in a database, and never changes afterwards."""

    number: int
    name: str
    text: str
    sha256: str


@dataclass(frozen=True)
class SchemaFiles:
    """The schema's files, read whole.

    Functions and views are pairs of file name and text, in name order.
    """

    bootstrap: str
    migrations: tuple[Migration, ...]
    functions: tuple[tuple[str, str], ...]
    views: tuple[tuple[str, str], ...]

    @property
    def newest(self) -> int:
        """The number of the newest migration."""
        return self.migrations[-1].number

    @property
    def functions_sha256(self) -> str:
        """Lowercase hex SHA-256 over `<name> NUL <text> NUL` of each function, then each view file.

        All in UTF-8.
        """
        digest = hashlib.sha256()
        for name, text in (*self.functions, *self.views):
            digest.update(f"{name}\0{text}\0".encode())
        return digest.hexdigest()


class SchemaState(enum.Enum):
    """How the schema in a database relates to this package's."""

    MISSING = "missing"
    OLDER = "older"
    CURRENT = "current"
    NEWER = "newer"
    UNREADABLE = "unreadable"
    """The connecting user may not ask: EXECUTE on patchdiff.schema_version() is missing."""


@dataclass(frozen=True)
class SchemaStatus:
    """State of a database's schema; `migration` is its newest migration, None where unknown."""

    state: SchemaState
    migration: int | None
    newest: int


@dataclass(frozen=True)
class MigrationReport:
    """What `migrate` did: migrations that ran, by name, and whether functions or views changed."""

    applied: tuple[str, ...]
    functions_changed: bool

    @property
    def changed(self) -> bool:
        """Whether the database is different from before."""
        return bool(self.applied) or self.functions_changed


def schema_directory() -> Traversable:
    """Where the schema's files are: in the installed package, or db/ of a source tree."""
    packaged = importlib.resources.files("patchdiff") / "db"
    if packaged.is_dir():
        return packaged
    return Path(__file__).resolve().parents[2] / "db"


def read_schema(directory: Traversable | None = None) -> SchemaFiles:
    """Read the schema's files. Raises SchemaError unless migrations count 1, 2, 3 and so on."""
    directory = directory or schema_directory()
    migrations: list[Migration] = []
    for name, text in _sql_files(directory / "migrations"):
        number = re.match(r"(\d{4})_", name)
        if number is None or int(number[1]) != len(migrations) + 1:
            raise SchemaError(f"migration file {name} breaks the sequence of numbers")
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        migrations.append(Migration(int(number[1]), name.removesuffix(".sql"), text, sha256))
    if not migrations:
        raise SchemaError("this installation has no schema files: install patchdiff-pg again")
    return SchemaFiles(
        bootstrap=_read(directory / "bootstrap.sql"),
        migrations=tuple(migrations),
        functions=tuple(_sql_files(directory / "functions")),
        views=tuple(_sql_files(directory / "views")),
    )


def migrate(
    connection: psycopg.Connection[Any], files: SchemaFiles | None = None
) -> MigrationReport:
    """Install or upgrade the schema in one transaction: all of it, or nothing.

    `files` are this package's by default. The connection must be idle; its user needs CREATEROLE or
    the roles that a DBA has made. Runs one at a time in a database, the others wait. Raises
    SchemaError, with nothing changed, when the server or the user will not do, when a recorded
    migration is not the file's, and when the database is newer than this package.
    """
    if connection.info.transaction_status is not TransactionStatus.IDLE:
        raise SchemaError("the schema is installed in its own transaction: end the open one")
    files = files or read_schema()
    try:
        with connection.transaction():
            return _migrate(connection, files)
    except psycopg.Error as error:
        if error.sqlstate is None:
            raise SchemaError(
                f"the connection was lost, run patchdiff migrate again: {error}"
            ) from error
        raise SchemaError(
            f"the schema was not installed, nothing is changed: {told(error)}"
        ) from error


def _migrate(connection: psycopg.Connection[Any], files: SchemaFiles) -> MigrationReport:
    # what another installer committed while this one waited must be visible
    _run(connection, "set transaction isolation level read committed, read write")
    _run(connection, files.bootstrap)
    _run(connection, _check(files))
    rows = connection.execute("select migration_number from patchdiff.schema_migrations").fetchall()
    present = {row[0] for row in rows}
    applied = [migration for migration in files.migrations if migration.number not in present]
    _run(connection, _drop_views(files))
    for migration in applied:
        _run(connection, migration.text)
        _run(connection, _record(migration))
    _run(connection, _drop_private_functions(files))
    for _, text in (*files.functions, *files.views):
        _run(connection, text)
    row = connection.execute(_record_functions(files).encode()).fetchone()
    changed = row is not None and row[0]
    return MigrationReport(tuple(migration.name for migration in applied), changed)


def schema_status(
    connection: psycopg.Connection[Any], files: SchemaFiles | None = None
) -> SchemaStatus:
    """Compare a database's schema with `files`, by default this package's.

    Needs no more than EXECUTE on patchdiff.schema_version(), and changes nothing.
    """
    files = files or read_schema()
    try:
        with connection.transaction():
            row = connection.execute("select patchdiff.schema_version()").fetchone()
    except errors.InvalidSchemaName:
        return SchemaStatus(SchemaState.MISSING, None, files.newest)
    except errors.UndefinedFunction:
        return SchemaStatus(SchemaState.OLDER, None, files.newest)
    except errors.InsufficientPrivilege:
        return SchemaStatus(SchemaState.UNREADABLE, None, files.newest)
    installed = row[0] if row is not None else {}
    migration = installed.get("migration") or 0
    if migration > files.newest:
        state = SchemaState.NEWER
    elif migration < files.newest or installed.get("functions_sha256") != files.functions_sha256:
        state = SchemaState.OLDER
    else:
        state = SchemaState.CURRENT
    return SchemaStatus(state, migration or None, files.newest)


def check_server(connection: psycopg.Connection[Any]) -> None:
    """Raise SchemaError unless the server is PostgreSQL 16 or newer and the database UTF8.

    It looks at what the server said when the connection was made, and sends nothing.
    """
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        shown = connection.info.parameter_status("server_version") or version
        raise SchemaError(f"the server is PostgreSQL {shown}: PatchDIFF needs version 16 or newer")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SchemaError(
            f"the database has encoding {encoding}: PatchDIFF needs UTF8; create a database with "
            "ENCODING 'UTF8' from template0 and use that one"
        )


def privileges(connection: psycopg.Connection[Any], role: str) -> dict[str, bool]:
    """For each function that `role` may call, its signature: whether the connection's user may."""
    rows = connection.execute(
        """
        select
            p.oid::pg_catalog.regprocedure::text,
            pg_catalog.has_function_privilege(p.oid, 'execute')
            and pg_catalog.has_schema_privilege(p.pronamespace, 'usage')
        from pg_catalog.pg_proc as p
        join pg_catalog.pg_namespace as n on p.pronamespace = n.oid
        where n.nspname = 'patchdiff' and pg_catalog.has_function_privilege(%s, p.oid, 'execute')
        order by 1
        """,
        [role],
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def told(error: psycopg.Error) -> str:
    """A server's error as one line: its message, and its hint where it has one."""
    message = error.diag.message_primary or str(error)
    hint = error.diag.message_hint
    return f"{message} ({hint})" if hint else message


def install_script(files: SchemaFiles | None = None) -> str:
    """The text of db/install.sql, which installs or upgrades the schema through psql."""
    files = files or read_schema()
    lines = [
        "-- Written by `make install-sql`, not by hand. Installs or upgrades the schema:",
        '--     psql --no-psqlrc --file=db/install.sql "$DATABASE_URL"',
        "\\set ON_ERROR_STOP on",
        "begin isolation level read committed read write;",
        "\\ir bootstrap.sql",
        f"{_check(files)} \\gset",
        f"{_drop_views(files)} \\gset",
    ]
    for migration in files.migrations:
        lines += [
            f"select {migration.number} not in (",
            "    select m.migration_number from patchdiff.schema_migrations as m",
            ") as patchdiff_applies \\gset",
            "\\if :patchdiff_applies",
            f"\\ir migrations/{migration.name}.sql",
            f"{_record(migration)} \\gset",
            "\\endif",
        ]
    lines.append(f"{_drop_private_functions(files)} \\gset")
    lines += [f"\\ir functions/{name}" for name, _ in files.functions]
    lines += [f"\\ir views/{name}" for name, _ in files.views]
    lines += [f"{_record_functions(files)} \\gset", "commit;"]
    return "\n".join(lines) + "\n"


def _check(files: SchemaFiles) -> str:
    known = {str(migration.number): migration.sha256 for migration in files.migrations}
    return _statement(
        "select patchdiff._check_migrations(newest => {}, known => {})",
        files.newest,
        json.dumps(known),
    )


def _record(migration: Migration) -> str:
    return _statement(
        "select patchdiff._record_migration("
        "migration_number => {}, migration_name => {}, sha256 => {})",
        migration.number,
        migration.name,
        migration.sha256,
    )


def _drop_views(files: SchemaFiles) -> str:
    return _statement(
        "select patchdiff._drop_views(newest => {}, sha256 => {})",
        files.newest,
        files.functions_sha256,
    )


def _drop_private_functions(files: SchemaFiles) -> str:
    return _statement(
        "select patchdiff._drop_private_functions(sha256 => {})", files.functions_sha256
    )


def _record_functions(files: SchemaFiles) -> str:
    return _statement("select patchdiff._record_functions(sha256 => {})", files.functions_sha256)


def _statement(template: LiteralString, *values: int | str) -> str:
    # psql runs the same text, so the values stand in it
    return sql.SQL(template).format(*values).as_string()


def _run(connection: psycopg.Connection[Any], text: str) -> None:
    # without parameters and unprepared: several statements are allowed, and % and : mean nothing
    connection.execute(text.encode(), prepare=False)


def _sql_files(directory: Traversable) -> Iterator[tuple[str, str]]:
    if directory.is_dir():
        files = {entry.name: entry for entry in directory.iterdir() if entry.name.endswith(".sql")}
        for name in sorted(files):
            yield name, _read(files[name])


def _read(file: Traversable) -> str:
    return file.read_bytes().decode()
