"""Calls on a service over one database connection, which may be lost and found again."""

import logging
import select
from collections.abc import Callable
from typing import Any, Protocol

import psycopg
from psycopg.pq import TransactionStatus

from patchdiff.answers import over_mcp
from patchdiff.catalog import Tool
from patchdiff.protocol import Answer

logger = logging.getLogger(__name__)


class Connections(Protocol):
    """Where a service gets its connection from."""

    def service_connection(self) -> psycopg.Connection[Any]:
        """The open connection in use, or a new one when there is none or it was lost."""


class ServiceCalls:
    """Performs calls on a service over one connection, which is opened anew after it was lost.

    A read that finds its connection lost is repeated once on a new one. A write is never repeated:
    its transaction may have been committed before the connection went.
    """

    def __init__(
        self, database: Connections, make_service: Callable[[psycopg.Connection[Any]], object]
    ) -> None:
        self._database = database
        self._make_service = make_service
        self._connection: psycopg.Connection[Any] | None = None
        self._service: object = None

    def connect(self) -> None:
        """Have an open connection. Called first at the start, so that a database that cannot be
        used stops it."""
        if self._connection is not None:
            _notice_end(self._connection)
        connection = self._database.service_connection()
        if connection is not self._connection:
            self._connection, self._service = connection, self._make_service(connection)

    def __call__(self, tool: Tool, arguments: dict[str, Any]) -> Answer:
        """Perform one call; a lost or unreachable database is an answer, not an exception."""
        try:
            self.connect()
            try:
                return self._perform(tool, arguments)
            except psycopg.Error:
                if not (tool.read_only and self._is_lost()):
                    raise
                logger.warning("the database connection was lost; %s is repeated", tool.name)
                self.connect()
                return self._perform(tool, arguments)
        except psycopg.Error as problem:
            if not (isinstance(problem, psycopg.OperationalError) or self._is_lost()):
                raise
            logger.warning("%s: the database is unavailable: %s", tool.name, problem)
            return Answer(_unavailable(tool), is_error=True)
        finally:
            self._leave_idle()

    def _perform(self, tool: Tool, arguments: dict[str, Any]) -> Answer:
        return Answer(over_mcp(getattr(self._service, tool.method)(**arguments)))

    def _is_lost(self) -> bool:
        return self._connection is not None and self._connection.closed

    def _leave_idle(self) -> None:
        # A transaction left open would make the next call believe that its caller owns one.
        connection = self._connection
        if connection is None or connection.closed:
            return
        if connection.info.transaction_status != TransactionStatus.IDLE:
            logger.error("a call left its transaction open; the connection is closed")
            connection.close()


def _notice_end(connection: psycopg.Connection[Any]) -> None:
    """Find out without a round trip whether the server has ended an idle connection.

    Then even a write can go to a new one, since nothing was sent yet.
    """
    if connection.closed:
        return
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    # A farewell message comes first and the end after it; an idle session has little else to say.
    for _ in range(4):
        if not poll.poll(0):
            return
        try:
            connection.pgconn.consume_input()
        except psycopg.OperationalError:
            return


def _unavailable(tool: Tool) -> dict[str, object]:
    if tool.read_only:
        detail = "The database could not be reached. Call again in a moment."
    else:
        detail = (
            "The database could not be reached, or was lost during the call: whether the call took "
            "effect is unknown. Repeat a keyed submission unchanged, or read the target and its "
            "attempt log first."
        )
    return {
        "status": "unavailable",
        "code": "database_unavailable",
        "failure_detail": detail,
        "retryable": True,
    }
