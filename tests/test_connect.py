"""Databases that the user names, and what is wrong with them."""

import contextlib
import socket
import struct
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from patchdiff.connect import Database
from patchdiff.schema import migrate
from patchdiff.settings import StartupError
from tests.support.commands import assert_refused, run, schema_dump, settings
from tests.support.postgres import PostgresServer


class OldServer:
    """Answers the start of the wire protocol as a PostgreSQL server of another version does."""

    def __init__(self, version: str, encoding: str = "UTF8") -> None:
        self.queries = 0
        self._parameters = {"server_version": version, "server_encoding": encoding}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    self._greet(connection)

    def _greet(self, connection: socket.socket) -> None:
        stream = connection.makefile("rwb")

        def send(kind: bytes, body: bytes) -> None:
            stream.write(kind + struct.pack("!i", len(body) + 4) + body)

        while True:
            length, code = struct.unpack("!ii", stream.read(8))
            stream.read(length - 8)
            if code >> 16 == 3:
                break
            # a request for encryption
            stream.write(b"N")
            stream.flush()
        send(b"R", struct.pack("!i", 0))
        for name, value in (self._parameters | {"client_encoding": "UTF8"}).items():
            send(b"S", f"{name}\0{value}\0".encode())
        send(b"K", struct.pack("!ii", 1, 1))
        send(b"Z", b"I")
        stream.flush()
        while (kind := stream.read(1)) not in (b"", b"X"):
            self.queries += 1
            (length,) = struct.unpack("!i", stream.read(4))
            stream.read(length - 4)
            send(b"E", b"SERROR\0C42601\0Mno queries here\0\0")
            send(b"Z", b"I")
            stream.flush()
            assert kind


@pytest.fixture
def login(postgres: PostgresServer) -> Iterator[str]:
    """A role that may connect and was granted nothing."""
    name = f"login_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("create role {} login").format(sql.Identifier(name)))
        yield name
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def url_of(url: str, **parameters: str) -> str:
    """The URL with other parameters, as a connection string."""
    return psycopg.conninfo.make_conninfo(url, **parameters)


@pytest.mark.parametrize("command", ["mcp", "migrate"])
@pytest.mark.parametrize(
    ("version", "refused"), [("15.4", True), ("15.99", True), ("9.6.24", True), ("16.0", False)]
)
@pytest.mark.req("CMD-005")
def test_server_older_than_16_is_refused_before_anything_is_asked_of_it(
    command: str, version: str, refused: bool
) -> None:
    server = OldServer(version)
    try:
        url = f"postgresql://u:s3cret@127.0.0.1:{server.port}/d"
        line = assert_refused(run(command, PATCHDIFF_DATABASE_URL=url))
    finally:
        server.close()
    assert "s3cret" not in line
    assert (f"PostgreSQL {version}" in line and "16 or newer" in line) is refused
    assert (server.queries == 0) is refused


@pytest.mark.parametrize("command", ["mcp", "migrate"])
def test_database_in_another_encoding_is_refused(postgres: PostgresServer, command: str) -> None:
    name = f"latin_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as admin:
        admin.execute(
            sql.SQL(
                "create database {} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' "
                "template template0"
            ).format(sql.Identifier(name))
        )
    try:
        assert_refused(
            run(command, PATCHDIFF_DATABASE_URL=postgres.url(name)), "LATIN1", "UTF8", "template0"
        )
    finally:
        postgres.drop_database(name)


@pytest.mark.parametrize("command", ["mcp", "migrate"])
def test_unreachable_database_is_told_in_one_line(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    url = f"postgresql://u:s3cret@127.0.0.1:{port},127.0.0.1:{port}/d"
    line = assert_refused(run(command, PATCHDIFF_DATABASE_URL=url), str(port))
    assert "s3cret" not in line
    assert "Traceback" not in line


@pytest.mark.req("CMD-011")
def test_server_refuses_a_database_without_the_schema_and_leaves_it_so(
    fresh_database_url: str,
) -> None:
    before = schema_dump(fresh_database_url)
    told = run("mcp", PATCHDIFF_DATABASE_URL=fresh_database_url)
    assert_refused(told, "patchdiff migrate")
    assert schema_dump(fresh_database_url) == before


@pytest.mark.req("CMD-011")
@pytest.mark.parametrize("what", ["migration", "functions"])
def test_server_refuses_a_database_with_an_older_schema_and_leaves_it_so(
    fresh_database_url: str, what: str
) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
        if what == "migration":
            connection.execute(
                "delete from patchdiff.schema_migrations where migration_number = "
                "(select max(migration_number) from patchdiff.schema_migrations)"
            )
        else:
            connection.execute("update patchdiff.schema_functions set sha256 = repeat('0', 64)")
        before = schema_dump(fresh_database_url)
        assert_refused(run("mcp", PATCHDIFF_DATABASE_URL=fresh_database_url), "patchdiff migrate")
        assert schema_dump(fresh_database_url) == before
        rows = connection.execute("select count(*) from patchdiff.schema_migrations").fetchone()
    count = len(list((Path(__file__).parents[1] / "db/migrations").glob("*.sql")))
    assert rows == (count - 1 if what == "migration" else count,)


def test_server_refuses_a_newer_schema(fresh_database_url: str) -> None:
    with psycopg.connect(fresh_database_url, autocommit=True) as connection:
        migrate(connection)
        connection.execute(
            "insert into patchdiff.schema_migrations (migration_number, migration_name, sha256) "
            "values (9999, 'future', repeat('0', 64))"
        )
    line = assert_refused(run("mcp", PATCHDIFF_DATABASE_URL=fresh_database_url), "9999", "newer")
    assert "patchdiff migrate" not in line


def test_server_names_the_privilege_that_is_missing(database_url: str, login: str) -> None:
    url = url_of(database_url, user=login)
    assert_refused(run("mcp", PATCHDIFF_DATABASE_URL=url), "patchdiff_editor", "grant")
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute(sql.SQL("grant patchdiff_reader to {}").format(sql.Identifier(login)))
        line = assert_refused(run("mcp", PATCHDIFF_DATABASE_URL=url), login)
        assert f'grant patchdiff_editor to "{login}"' in line
        told = run("mcp", PATCHDIFF_DATABASE_URL=url, PATCHDIFF_MCP_PROFILE="reader")
        assert (told.returncode, told.stderr) == (0, "")
        admin.execute(sql.SQL("grant patchdiff_editor to {}").format(sql.Identifier(login)))
        told = run("mcp", PATCHDIFF_DATABASE_URL=url)
        assert (told.returncode, told.stderr) == (0, "")


def test_doctor_says_what_is_wrong_and_what_to_do(database_url: str, login: str) -> None:
    url = url_of(database_url, user=login, password="s3cret")
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute(sql.SQL("grant patchdiff_reader to {}").format(sql.Identifier(login)))
    told = run(
        "doctor", PATCHDIFF_DATABASE_URL=url, PATCHDIFF_PLASTIC_CM="no-such-program", COLUMNS="200"
    )
    assert told.returncode == 1
    assert f'grant patchdiff_editor to "{login}"' in told.stdout
    assert "patchdiff.initialize_target(" in told.stdout
    assert "patchdiff.read_target(" not in told.stdout
    assert "PATCHDIFF_PLASTIC_CM" in told.stdout
    assert "s3cret" not in told.stdout + told.stderr


def test_doctor_tells_an_unreachable_database(tmp_path: Path) -> None:
    told = run("doctor", PATCHDIFF_DATABASE_URL=f"postgresql://u:s3cret@/d?host={tmp_path}")
    assert told.returncode == 1
    assert "PATCHDIFF_DATABASE_URL" in told.stdout
    assert "Traceback" not in told.stderr
    assert "s3cret" not in told.stdout + told.stderr


def test_lost_database_is_an_operational_error_after_the_first_connection(
    postgres: PostgresServer,
) -> None:
    name = f"lost_{uuid.uuid4().hex}"
    url = postgres.create_database(name)
    with psycopg.connect(url) as connection:
        migrate(connection)
    with contextlib.closing(Database(settings(DATABASE_URL=url))) as database:
        database.service_connection().close()
        postgres.drop_database(name)
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            database.service_connection()
    with (
        contextlib.closing(Database(settings(DATABASE_URL=url))) as database,
        pytest.raises(StartupError, match="does not exist"),
    ):
        database.service_connection()


def test_writers_read_what_others_committed_whatever_the_database_s_default(
    database_url: str,
) -> None:
    default = "options=-c%20default_transaction_isolation%3Dserializable"
    with contextlib.closing(
        Database(settings(DATABASE_URL=f"{database_url}?{default}"))
    ) as database:
        connection = database.service_connection()
        shown = connection.execute("show transaction_isolation").fetchone()
        assert shown == ("read committed",)
        with connection.transaction():
            assert connection.execute("show transaction_isolation").fetchone() == shown
