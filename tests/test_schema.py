"""Installing and upgrading the schema, through Python and through psql."""

import hashlib
import re
import shutil
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from patchdiff.embedded import EmbeddedServer
from patchdiff.embedded_account import installation
from patchdiff.schema import (
    Migration,
    MigrationReport,
    SchemaError,
    SchemaState,
    check_server,
    install_script,
    migrate,
    privileges,
    read_schema,
    schema_status,
)
from tests.support.commands import schema_dump
from tests.support.postgres import PostgresServer

ROOT = Path(__file__).parents[1]
DB = ROOT / "db"
MIGRATION_NAMES = tuple(sorted(path.stem for path in (DB / "migrations").glob("*.sql")))


def connect(url: str, **parameters: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(url, autocommit=True, **parameters)


def ask(connection: psycopg.Connection[Any], query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


def ledger(url: str) -> list[tuple[Any, ...]]:
    with connect(url) as connection:
        return ask(
            connection,
            "select 'm', migration_number::text, migration_name, sha256, applied_at "
            "from patchdiff.schema_migrations union all "
            "select 'f', null, null, sha256, applied_at from patchdiff.schema_functions "
            "order by 1, 2",
        )


def run_psql(url: str, *, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [installation() / "bin/psql", "-X", "-q", "-f", DB / "install.sql", url],
        capture_output=True,
        text=True,
        check=check,
    )


@pytest.fixture
def new_database(postgres: PostgresServer) -> Iterator[Callable[[], str]]:
    names: list[str] = []

    def create() -> str:
        names.append(f"schema_{uuid.uuid4().hex}")
        return postgres.create_database(names[-1])

    yield create
    for name in names:
        postgres.drop_database(name)


def test_migrations_are_the_frozen_ones() -> None:
    frozen = dict(
        reversed(line.split("  "))
        for line in (DB / "migrations/frozen.sha256").read_text().splitlines()
    )
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (DB / "migrations").glob("*.sql")
    }
    assert found == frozen


def test_install_script_in_the_tree_is_the_generated_one() -> None:
    assert (DB / "install.sql").read_text(encoding="utf-8") == install_script()


def test_every_function_file_is_named_after_its_only_function() -> None:
    for path in (DB / "functions").glob("*.sql"):
        created = re.findall(
            r"^create (?:or replace )?(?:function|procedure) patchdiff\.(\w+)",
            path.read_text(),
            flags=re.MULTILINE,
        )
        assert created == [path.stem]


def test_every_view_file_is_named_after_its_only_view() -> None:
    paths = list((DB / "views").glob("*.sql"))
    assert paths
    for path in paths:
        created = re.findall(
            r"^create or replace view patchdiff\.(\w+)", path.read_text(), flags=re.MULTILINE
        )
        assert created == [path.stem]


def test_functions_digest_is_over_names_and_texts_in_name_order_views_last() -> None:
    digest = hashlib.sha256()
    for directory in ("functions", "views"):
        for path in sorted((DB / directory).glob("*.sql"), key=lambda path: path.name):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    assert read_schema().functions_sha256 == digest.hexdigest()


@pytest.mark.req("CMD-012")
def test_second_run_changes_nothing(fresh_database_url: str) -> None:
    with connect(fresh_database_url) as connection:
        assert migrate(connection) == MigrationReport(MIGRATION_NAMES, functions_changed=True)
        before = schema_dump(fresh_database_url), ledger(fresh_database_url)
        assert migrate(connection) == MigrationReport((), functions_changed=False)
        assert (schema_dump(fresh_database_url), ledger(fresh_database_url)) == before
        assert schema_status(connection).state is SchemaState.CURRENT


def test_session_is_as_it_was_after_a_migration(fresh_database_url: str) -> None:
    with connect(fresh_database_url) as connection:
        query = "select current_user, current_setting('search_path'), current_setting('role')"
        before = ask(connection, query)
        migrate(connection)
        assert ask(connection, query) == before


def test_psql_installs_the_same_schema(new_database: Callable[[], str]) -> None:
    by_python, by_psql = new_database(), new_database()
    with connect(by_python) as connection:
        migrate(connection)
    told = run_psql(by_psql)
    assert told.stderr == ""
    assert schema_dump(by_psql) == schema_dump(by_python)
    assert [row[:4] for row in ledger(by_psql)] == [row[:4] for row in ledger(by_python)]
    with connect(by_psql) as connection:
        assert schema_status(connection).state is SchemaState.CURRENT
        assert migrate(connection).changed is False
    before = ledger(by_psql)
    run_psql(by_psql)
    assert ledger(by_psql) == before


OLDER_FUNCTION = "create function patchdiff.{} returns integer language sql as 'select 1';"
"""A private function with other arguments or another result than this version's."""

OLDER_VIEW = "create or replace view patchdiff.{} as select x.* from {} as x;"
"""A view with other columns than this version's, or that this version has not."""


@pytest.mark.parametrize("route", ["python", "psql"])
def test_upgraded_schema_is_the_fresh_one(new_database: Callable[[], str], route: str) -> None:
    fresh, upgraded = new_database(), new_database()
    files = read_schema()
    older = replace(
        files,
        migrations=files.migrations[:1],
        functions=(
            ("_canonical_text.sql", OLDER_FUNCTION.format("_canonical_text(a text, b text)")),
            ("_lines.sql", OLDER_FUNCTION.format("_lines(content text)")),
        ),
        views=(
            ("attempts.sql", OLDER_VIEW.format("attempts", "patchdiff.cloud_target_files")),
            ("gone.sql", OLDER_VIEW.format("gone", "patchdiff.attempts")),
        ),
    )
    with connect(fresh) as connection:
        migrate(connection)
    with connect(upgraded) as connection:
        assert migrate(connection, older).applied == MIGRATION_NAMES[:1]
        assert schema_status(connection).state is SchemaState.OLDER
        assert schema_dump(upgraded) != schema_dump(fresh)
        if route == "python":
            assert migrate(connection).applied == MIGRATION_NAMES[1:]
        else:
            run_psql(upgraded)
        assert schema_status(connection).state is SchemaState.CURRENT
    assert schema_dump(upgraded) == schema_dump(fresh)
    assert [row[:4] for row in ledger(upgraded)] == [row[:4] for row in ledger(fresh)]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of db/ to break."""
    return Path(shutil.copytree(DB, tmp_path / "db"))


BREAKAGES = {
    "first function": ("functions/_aaa.sql", "create function patchdiff._aaa() returns nonsense;"),
    "last function": ("functions/zzz.sql", "select 1 / 0;"),
    "view": ("views/zzz.sql", "create or replace view patchdiff.zzz as select 1 / 0 from nothing;"),
    "later migration": ("migrations/9999_broken.sql", "create table patchdiff.t (x nonsense);"),
}


def broken(tree: Path, breakage: str) -> Path:
    name, text = BREAKAGES[breakage]
    if name.startswith("migrations"):
        name = f"migrations/{len(MIGRATION_NAMES) + 1:04}_broken.sql"
    (tree / name).write_text(text)
    return tree


@pytest.mark.parametrize("breakage", BREAKAGES)
@pytest.mark.req("CMD-014")
def test_failing_installation_leaves_an_empty_database_empty(
    fresh_database_url: str, tree: Path, breakage: str
) -> None:
    before = schema_dump(fresh_database_url)
    with connect(fresh_database_url) as connection:
        with pytest.raises(SchemaError, match="nothing is changed"):
            migrate(connection, read_schema(broken(tree, breakage)))
        assert schema_status(connection).state is SchemaState.MISSING
        assert schema_dump(fresh_database_url) == before
        # and it can be done right afterwards, over the same connection
        assert migrate(connection).applied == MIGRATION_NAMES


@pytest.mark.parametrize("breakage", BREAKAGES)
@pytest.mark.req("CMD-014")
def test_failing_upgrade_leaves_the_schema_as_it_was(
    fresh_database_url: str, tree: Path, breakage: str
) -> None:
    files = read_schema()
    older = replace(
        files,
        migrations=files.migrations[:1],
        functions=files.functions[:-1],
        views=files.views[:1],
    )
    with connect(fresh_database_url) as connection:
        migrate(connection, older)
        before = schema_dump(fresh_database_url), ledger(fresh_database_url)
        with pytest.raises(SchemaError, match="nothing is changed"):
            migrate(connection, read_schema(broken(tree, breakage)))
    assert (schema_dump(fresh_database_url), ledger(fresh_database_url)) == before


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
@pytest.mark.req("CMD-013")
def test_migrations_at_once_all_succeed(fresh_database_url: str, isolation: str) -> None:
    options = f"-c default_transaction_isolation={isolation.replace(' ', chr(92) + ' ')}"
    reports: list[MigrationReport] = []
    barrier = threading.Barrier(4)

    def work() -> None:
        with connect(fresh_database_url, options=options) as connection:
            barrier.wait()
            reports.append(migrate(connection))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((report.applied for report in reports), key=len) == [(), (), (), MIGRATION_NAMES]
    with connect(fresh_database_url) as connection:
        assert schema_status(connection).state is SchemaState.CURRENT


@pytest.mark.parametrize("route", ["python", "psql"])
def test_migration_recorded_with_another_text_is_refused(
    fresh_database_url: str, route: str
) -> None:
    with connect(fresh_database_url) as connection:
        migrate(connection)
        connection.execute(
            "update patchdiff.schema_migrations set sha256 = repeat('0', 64) "
            "where migration_number = 1"
        )
        before = schema_dump(fresh_database_url), ledger(fresh_database_url)
        if route == "python":
            with pytest.raises(SchemaError, match="0001_tables ran here with another text"):
                migrate(connection)
        else:
            told = run_psql(fresh_database_url, check=False)
            assert told.returncode != 0
            assert "0001_tables ran here with another text" in told.stderr
    assert (schema_dump(fresh_database_url), ledger(fresh_database_url)) == before


@pytest.mark.parametrize("route", ["python", "psql"])
def test_newer_database_is_refused(fresh_database_url: str, route: str) -> None:
    newer = len(MIGRATION_NAMES) + 1
    with connect(fresh_database_url) as connection:
        migrate(connection)
        connection.execute(
            "insert into patchdiff.schema_migrations (migration_number, migration_name, sha256) "
            "values (%s, 'future', repeat('0', 64))",
            [newer],
        )
        status = schema_status(connection)
        assert (status.state, status.migration) == (SchemaState.NEWER, newer)
        if route == "python":
            with pytest.raises(SchemaError, match=rf"migration {newer}, newer"):
                migrate(connection)
        else:
            told = run_psql(fresh_database_url, check=False)
            assert told.returncode != 0
            assert f"migration {newer}, newer" in told.stderr


def test_other_functions_make_a_schema_older(fresh_database_url: str) -> None:
    files = read_schema()
    name, text = files.functions[0]
    other = replace(files, functions=((name, f"{text}\n"), *files.functions[1:]))
    with connect(fresh_database_url) as connection:
        migrate(connection, other)
        assert schema_status(connection).state is SchemaState.OLDER
        assert migrate(connection) == MigrationReport((), functions_changed=True)
        assert schema_status(connection).state is SchemaState.CURRENT


def test_other_views_make_a_schema_older(fresh_database_url: str) -> None:
    files = read_schema()
    name, text = files.views[0]
    other = replace(files, views=((name, f"{text}\n"), *files.views[1:]))
    with connect(fresh_database_url) as connection:
        migrate(connection, other)
        assert schema_status(connection).state is SchemaState.OLDER
        assert migrate(connection) == MigrationReport((), functions_changed=True)
        assert schema_status(connection).state is SchemaState.CURRENT


def test_a_migration_may_change_a_column_that_a_view_shows(fresh_database_url: str) -> None:
    files = read_schema()
    text = (
        "alter table patchdiff.cloud_target_files alter column filename type varchar;"
        "alter table patchdiff.cloud_target_files alter column filename type text;"
    )
    number = files.newest + 1
    later = Migration(number, f"{number:04}_later", text, hashlib.sha256(text.encode()).hexdigest())
    with connect(fresh_database_url) as connection:
        migrate(connection)
        report = migrate(connection, replace(files, migrations=(*files.migrations, later)))
        assert report.applied == (later.name,)
        views = "select count(*) from pg_views where schemaname = 'patchdiff'"
        assert ask(connection, views) == [(len(files.views),)]


def test_a_view_of_ours_that_others_build_upon_stops_an_upgrade_and_is_named(
    fresh_database_url: str,
) -> None:
    files = read_schema()
    name, text = files.views[0]
    other = replace(files, views=((name, f"{text}\n"), *files.views[1:]))
    with connect(fresh_database_url) as connection:
        migrate(connection)
        connection.execute("create view mine as select filename from patchdiff.attempts")
        before = schema_dump(fresh_database_url)
        with pytest.raises(SchemaError, match=r"view public\.mine depends on view"):
            migrate(connection, other)
        assert schema_dump(fresh_database_url) == before
        assert migrate(connection).changed is False
        connection.execute("drop view mine")
        assert migrate(connection, other).functions_changed


def test_empty_database_has_no_schema_and_stays_empty(fresh_database_url: str) -> None:
    with connect(fresh_database_url) as connection:
        assert schema_status(connection).state is SchemaState.MISSING
        assert ask(connection, "select to_regnamespace('patchdiff')") == [(None,)]


def test_missing_tells_nothing_to_an_open_transaction(fresh_database_url: str) -> None:
    with psycopg.connect(fresh_database_url) as connection:
        connection.execute("create table mine as select 1 as n")
        assert schema_status(connection).state is SchemaState.MISSING
        with pytest.raises(SchemaError, match="its own transaction"):
            migrate(connection)
        assert ask(connection, "select n from mine") == [(1,)]


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_other_encodings_are_refused(postgres: PostgresServer, encoding: str) -> None:
    name = f"schema_{uuid.uuid4().hex}"
    with connect(postgres.url("postgres")) as connection:
        connection.execute(
            sql.SQL(
                "create database {} encoding {} lc_collate 'C' lc_ctype 'C' template template0"
            ).format(sql.Identifier(name), encoding)
        )
    try:
        with connect(postgres.url(name), client_encoding="UTF8") as connection:
            for attempt in (migrate, check_server):
                with pytest.raises(SchemaError, match=rf"{encoding}.*UTF8"):
                    attempt(connection)
            assert ask(connection, "select to_regnamespace('patchdiff')") == [(None,)]
    finally:
        postgres.drop_database(name)


@pytest.mark.parametrize("route", ["python", "psql"])
def test_failure_names_what_a_dba_must_do(tmp_path: Path, route: str) -> None:
    # a server of its own: roles belong to a whole server
    with EmbeddedServer(tmp_path / "home") as server:
        with connect(server.url()) as admin:
            admin.execute('create role "ap p" login')
            admin.execute("create database app")
        url = server.url(database="app").replace("patchdiff@", "ap%20p@")
        if route == "python":
            with connect(url) as user, pytest.raises(SchemaError) as refusal:
                migrate(user)
            told = str(refusal.value)
            assert len(told.splitlines()) == 1
        else:
            told = run_psql(url, check=False).stderr
        for role in ("patchdiff_owner", "patchdiff_editor", "patchdiff_reader"):
            assert f"create role {role} nologin" in told
        statements = re.search(r"A DBA must run: (.*;)", told)
        assert statements is not None
        with connect(server.url()) as admin:
            admin.execute(statements[1].encode())
        with connect(url) as user:
            assert migrate(user).applied == MIGRATION_NAMES
            assert schema_status(user).state is SchemaState.CURRENT


def test_user_with_createrole_can_install(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "home") as server:
        with connect(server.url()) as admin:
            admin.execute("create role app login createrole")
            admin.execute("create role user_of_app login")
            admin.execute("create database app owner app")
        url = server.url(database="app").replace("patchdiff@", "app@")
        with connect(url) as app:
            assert migrate(app).applied == MIGRATION_NAMES
            assert migrate(app).changed is False
            app.execute("grant patchdiff_reader to user_of_app")
            owners = "select distinct pg_get_userbyid(proowner) from pg_proc where pronamespace"
            assert ask(app, f"{owners} = 'patchdiff'::regnamespace") == [("patchdiff_owner",)]
        with connect(url.replace("app@", "user_of_app@")) as user:
            assert schema_status(user).state is SchemaState.CURRENT
            held = privileges(user, "patchdiff_reader")
            assert set(held.values()) == {True}
            assert not all(privileges(user, "patchdiff_editor").values())


def test_user_without_execute_cannot_read_the_status(postgres: PostgresServer) -> None:
    name = f"schema_{uuid.uuid4().hex}"
    url = postgres.create_database(name)
    role = f"stranger_{uuid.uuid4().hex}"
    with connect(url) as admin:
        migrate(admin)
        admin.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
        try:
            with connect(url, user=role) as stranger:
                assert schema_status(stranger).state is SchemaState.UNREADABLE
                assert not any(privileges(stranger, "patchdiff_editor").values())
            admin.execute(sql.SQL("grant patchdiff_editor to {}").format(sql.Identifier(role)))
            with connect(url, user=role) as friend:
                assert schema_status(friend).state is SchemaState.CURRENT
                assert all(privileges(friend, "patchdiff_editor").values())
        finally:
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))
    postgres.drop_database(name)


@pytest.mark.parametrize("names", [["0002_b.sql"], ["0001_a.sql", "0003_c.sql"], ["a.sql"]])
def test_gap_in_the_migrations_is_refused(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "migrations").mkdir()
    for name in names:
        (tmp_path / "migrations" / name).write_text("select 1;")
    with pytest.raises(SchemaError, match="sequence"):
        read_schema(tmp_path)


def test_installation_without_schema_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="install patchdiff-pg again"):
        read_schema(tmp_path)
