"""`patchdiff doctor`: what is right and wrong with the database, and what to do about it."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from rich.console import Console
from rich.table import Table
from rich.text import Text

from patchdiff.connect import Database, grant_advice, schema_problem
from patchdiff.profiles import profile_problem
from patchdiff.schema import (
    OLDEST_SERVER,
    SchemaState,
    privileges,
    schema_status,
    told,
)
from patchdiff.settings import Settings, StartupError


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what was found, and what to do when that is wrong."""

    subject: str
    found: str
    advice: str | None = None


def run(settings: Settings) -> int:
    """Print what was found; the answer is 0 when nothing is wrong and 1 otherwise."""
    findings = list(_examine(settings))
    table = Table("", "Subject", "Found")
    for finding in findings:
        mark = "wrong" if finding.advice else "ok"
        table.add_row(mark, finding.subject, Text(finding.found, overflow="fold"))
    console = Console()
    console.print(table)
    for finding in findings:
        if finding.advice:
            console.print(Text(f"{finding.subject}: {finding.advice}"), soft_wrap=True)
    return 1 if any(finding.advice for finding in findings) else 0


def _examine(settings: Settings) -> Iterator[Finding]:
    with closing(Database(settings)) as database:
        yield Finding("database", _named(settings))
        try:
            with database.connection() as connection:
                yield from _server(connection)
                yield from _schema(database, connection)
        except (StartupError, psycopg.Error) as error:
            reason = told(error) if isinstance(error, psycopg.Error) else str(error)
            advice = (
                "correct PATCHDIFF_HOME, or set PATCHDIFF_DATABASE_URL"
                if database.embedded
                else "start the server, or correct PATCHDIFF_DATABASE_URL"
            )
            yield Finding("connection", reason, advice)
    yield Finding("profile", settings.mcp_profile, profile_problem(settings))
    yield from _executables(settings)


def _named(settings: Settings) -> str:
    if settings.database_url is None:
        return f"embedded server in {settings.home}"
    given = conninfo_to_dict(settings.database_url)
    shown = {name: given[name] for name in ("host", "port", "dbname", "user") if name in given}
    return " ".join(f"{name}={value}" for name, value in shown.items()) or "libpq's defaults"


def _server(connection: psycopg.Connection[Any]) -> Iterator[Finding]:
    info = connection.info
    old = info.server_version < OLDEST_SERVER
    yield Finding(
        "server version",
        info.parameter_status("server_version") or str(info.server_version),
        "PatchDIFF needs PostgreSQL 16 or newer: use another server" if old else None,
    )
    encoding = info.parameter_status("server_encoding") or "unknown"
    yield Finding(
        "encoding",
        encoding,
        "create a database with ENCODING 'UTF8' from template0 and use that one"
        if encoding != "UTF8"
        else None,
    )


def _schema(database: Database, connection: psycopg.Connection[Any]) -> Iterator[Finding]:
    status = schema_status(connection)
    number = "" if status.migration is None else f", migration {status.migration}"
    yield Finding("schema", f"{status.state.value}{number}", schema_problem(status))
    if status.state is SchemaState.MISSING:
        return
    with database.connection(database.role) as user:
        held = privileges(user, database.role)
        missing = [name for name, may in held.items() if not may]
        count = f"{len(held) - len(missing)} of the {len(held)}"
        yield Finding(
            "privileges",
            f"EXECUTE on {count} functions of {database.role}",
            f"{grant_advice(database.role, user.info.user)}; missing: {', '.join(missing)}"
            if missing
            else None,
        )


def _executables(settings: Settings) -> Iterator[Finding]:
    programs = {
        "PATCHDIFF_PLASTIC_CM": settings.plastic_cm,
        "PATCHDIFF_PLASTIC_DIFF": settings.plastic_diff,
        "PATCHDIFF_PLASTIC_PATCH_TOOL": settings.plastic_patch_tool,
    }
    for variable, program in programs.items():
        if program is None:
            yield Finding(variable, "not set")
        elif shutil.which(program) is None:
            yield Finding(
                variable, f"{program!r} is no program", "install it, or correct the variable"
            )
        else:
            yield Finding(variable, str(shutil.which(program)))
