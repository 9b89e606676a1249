"""The command `patchdiff`.

Each command imports what it needs when it runs, so that `patchdiff mcp` starts without what only
others use.
"""

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from patchdiff.settings import Settings

USAGE_ERROR = 2
"""Exit status of a start that cannot go on."""

_COUNT = click.IntRange(1, 2**63 - 1)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="patchdiff-pg", prog_name="patchdiff")
def main() -> None:
    """Guarded, atomic, audited document edits in PostgreSQL.

    The database is the one in PATCHDIFF_DATABASE_URL. Without it an embedded PostgreSQL server is
    used, which runs while some patchdiff process uses it.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    # a rollback that fails on a lost connection: the loss itself is told, in one line
    logging.getLogger("psycopg").setLevel(logging.ERROR)


@main.command()
def mcp() -> None:
    """Serve the tools over MCP on standard input and output."""
    # first of all, so that nothing but the protocol ever reaches the peer
    from patchdiff.descriptors import claim

    try:
        descriptors = claim()
    except OSError as error:
        _refuse(f"standard input, output and error must be open: {error.strerror}")
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.external_adapter import ExternalMCPAdapter

        with ExternalMCPAdapter(settings) as adapter:
            sys.exit(adapter.serve(descriptors))


@main.command()
def migrate() -> None:
    """Install the schema in the database, or bring it up to this version.

    It is done in one transaction, and changes nothing where there is nothing to do.
    """
    with _one_line_problems():
        from patchdiff.connect import Database
        from patchdiff.schema import migrate as migrate_schema

        with (
            closing(Database(_load_settings())) as database,
            database.administrator_connection() as connection,
        ):
            report = migrate_schema(connection)
    if not report.changed:
        click.echo("The schema is up to date.")
    for name in report.applied:
        click.echo(f"Applied migration {name}.")
    if report.functions_changed:
        click.echo("Installed the functions of this version.")


@main.command()
def url() -> None:
    """Print the URL of the database in use, for psql and other clients.

    The embedded server runs only while some patchdiff process uses it, for example `patchdiff mcp`
    or `patchdiff psql`: its URL leads nowhere at other times.
    """
    with _one_line_problems():
        from patchdiff.connect import Database

        with closing(Database(_load_settings())) as database:
            click.echo(database.url())


@main.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def psql(arguments: tuple[str, ...]) -> None:
    """Run psql on the database in use, and keep the embedded server running meanwhile.

    ARGUMENTS are psql's own. The exit status is psql's.
    """
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.psql import run

        sys.exit(run(settings, arguments))


@main.command()
def doctor() -> None:
    """Look at the server, the schema, the privileges and the programs, and say what to do.

    The exit status is 0 when all is well and 1 when something is not.
    """
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.doctor import run

        sys.exit(run(settings))


@main.command()
@click.argument("target")
@click.option("--limit", type=_COUNT, default=20, show_default=True, help="Attempts to show.")
@click.option("--status", type=click.Choice(["accepted", "rejected"]), help="Only these.")
@click.option(
    "--before", type=_COUNT, metavar="SEQUENCE", help="Only attempts below this log sequence."
)
def log(target: str, limit: int, status: str | None, before: int | None) -> None:
    """Show the attempts to edit TARGET, newest first.

    TARGET is a target_file_id. The last line says how to see older attempts where there are any.
    """
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.history_log import run

        run(settings, target, limit, before, status)


@main.command()
@click.argument("log_id")
@click.option("--target", help="The target_file_id of the attempt's target: finds it at once.")
def show(log_id: str, target: str | None) -> None:
    """Show one attempt whole: who, when, guards, outcome, and each change as a diff.

    LOG_ID is the pdcp_log_id that `patchdiff log` and the tools tell.
    """
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.history_show import run

        run(settings, log_id, target)


@main.command()
@click.argument("target", required=False)
@click.option("--all", "every", is_flag=True, help="Verify all targets.")
def verify(target: str | None, every: bool) -> None:
    """Verify that the recorded history of TARGET, or of all targets, is intact. Changes nothing.

    The exit status is 0 when all is intact, 1 when something is damaged, which is then listed, and
    2 when it cannot be verified.
    """
    if (target is None) != every:
        raise click.UsageError("Name one TARGET, or give --all: one of the two.")
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.history_verify import run

        sys.exit(run(settings, target))


@main.command()
@click.argument("target")
@click.option("--html", "file", required=True, metavar="FILE", help="Where to write; - is stdout.")
@click.option(
    "--limit", type=_COUNT, default=200, show_default=True, help="How many of the newest attempts."
)
def report(target: str, file: str, limit: int) -> None:
    """Write the history of TARGET as one HTML page that needs nothing else.

    It has the timeline, every attempt, every accepted change side by side, and whether the history
    is intact. An existing FILE is replaced.
    """
    with _one_line_problems():
        settings = _load_settings()
        from patchdiff.report import run

        run(settings, target, file, limit)


@main.command()
@click.argument("file", required=False, default="")
def demo(file: str) -> None:
    """Edit a copy of FILE through `patchdiff mcp` and show the audit trail.

    Without FILE the text is this distribution's own README. Uses the embedded server.
    """
    from patchdiff.demo import run

    sys.exit(run(Path(file) if file else None))


def _load_settings() -> "Settings":
    from patchdiff.settings import load_settings

    return load_settings()


@contextmanager
def _one_line_problems() -> Iterator[None]:
    """Turn a start that cannot go on into one line on standard error and exit status 2."""
    from patchdiff.settings import StartupError

    try:
        yield
    except StartupError as error:
        _refuse(str(error))


def _refuse(reason: str) -> NoReturn:
    text = reason.encode("utf-8", "backslashreplace").decode()
    click.echo(f"patchdiff: {text}", err=True)
    sys.exit(USAGE_ERROR)


def _end(number: int, _frame: FrameType | None) -> None:
    for repeated in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(repeated, signal.SIG_IGN)
    # an orderly exit: the embedded server is released on the way
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
