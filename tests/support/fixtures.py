"""What Python tests and pgTAP files share: one server and one migrated database a process."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.postgres import PostgresServer, chosen_version, server_binaries


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server of the version that PATCHDIFF_TEST_POSTGRES names."""
    server = PostgresServer(server_binaries(chosen_version()))
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def database_url(postgres: PostgresServer) -> str:
    """The superuser's URL of a migrated database; tests keep apart by using their own targets."""
    from patchdiff.schema import migrate

    url = postgres.create_database("patchdiff_tests")
    with psycopg.connect(url) as connection:
        migrate(connection)
    return url
