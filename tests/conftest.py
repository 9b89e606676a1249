"""The fixtures of the Python tests beside the shared server and database."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.stdio import StdioClient


@pytest.fixture
def fresh_database_url(postgres: PostgresServer) -> Iterator[str]:
    """The superuser's URL of a new, empty database, which is dropped after the test."""
    name = f"fresh_{uuid.uuid4().hex}"
    try:
        yield postgres.create_database(name)
    finally:
        postgres.drop_database(name)


@pytest.fixture
def admin(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """The superuser's autocommit connection to the shared database."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def service(database_url: str) -> Iterator[Any]:
    """A patchdiff.Service on an autocommit connection of its own to the shared database."""
    from patchdiff import Service

    with psycopg.connect(database_url, autocommit=True) as connection:
        yield Service(connection)


@pytest.fixture
def managed(database_url: str, tmp_path: Path) -> Iterator[Any]:
    """A service with an empty root directory as its workspace (tests.support.workspace.Managed)."""
    from tests.support.workspace import Managed

    root = tmp_path / "root"
    root.mkdir()
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield Managed(connection, root)


@pytest.fixture(scope="module")
def client(database_url: str) -> Iterator[StdioClient]:
    """A `patchdiff mcp` on the shared database and one conversation with it."""
    conversation = StdioClient({"PATCHDIFF_DATABASE_URL": database_url})
    try:
        yield conversation
    finally:
        conversation.close()


@pytest.fixture
def plain_connection(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection to the shared database that is not in autocommit mode."""
    with psycopg.connect(database_url) as connection:
        yield connection
        connection.rollback()
