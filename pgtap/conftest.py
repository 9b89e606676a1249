"""Runs the pgTAP files of this folder on the tests' own server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pytest_pgtap.plugin import PgTapItem  # type: ignore[import-untyped]

from tests.support.pgtap import SCHEMA, load_pgtap

# The plugin uses a class that pytest calls private, and warnings are errors here.
_PLUGIN_WARNING = (
    "ignore:A private pytest class or function was used:pytest.PytestDeprecationWarning"
)

HISTORY = (Path(__file__).parent / "history.sql").read_text(encoding="utf-8")

# Shared statements as one function: a file of the plugin cannot include another.
_MAKE_HISTORY = sql.SQL("""
create or replace function {}.make_history(name text) returns text language plpgsql as $make$
begin
    execute {};
    execute format(
        'create function pg_temp.check_failures() returns jsonb language sql as '
        || '$$ select patchdiff.%I(pg_temp.id()::uuid) $$',
        name
    );
    return name;
end
$make$
""")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Forgive the plugin its own warning, in its own items only."""
    for item in items:
        if isinstance(item, PgTapItem):
            item.add_marker(pytest.mark.filterwarnings(_PLUGIN_WARNING))


@pytest.fixture(scope="session")
def pgtap_connection(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """The superuser's connection to the shared database, with pgTAP on its search path.

    Takes the place of the plugin's own fixture, which skips every file when there is no server:
    here whatever is missing fails.
    """
    with psycopg.connect(database_url, autocommit=True) as connection:
        load_pgtap(connection)
        connection.execute(f"set search_path = public, {SCHEMA}")
        connection.execute(_MAKE_HISTORY.format(sql.Identifier(SCHEMA), sql.Literal(HISTORY)))
        yield connection
