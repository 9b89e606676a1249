"""Where connections come from: the database the user names, or the embedded server."""

import os
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from patchdiff.schema import (
    SchemaError,
    SchemaState,
    SchemaStatus,
    check_server,
    migrate,
    privileges,
    schema_status,
    told,
)
from patchdiff.settings import Settings, StartupError

if TYPE_CHECKING:
    from patchdiff.embedded import EmbeddedServer

EDITOR = "patchdiff_editor"
READER = "patchdiff_reader"

CONNECT_SECONDS = 10
"""How long a connection may take, unless the URL or PGCONNECT_TIMEOUT says otherwise."""


ELSEWHERE = ("PGSERVICE", "PGSERVICEFILE", "PGHOSTADDR")
"""Variables that would send a connection to the embedded server to another place."""


class DatabaseUnavailableError(StartupError):
    """The database cannot be reached."""


class Database:
    """The database of one process.

    It is the one in `settings.database_url`, or the embedded server's, which is started with the
    first connection and released by `close`.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server: EmbeddedServer | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self._checked = False

    @property
    def embedded(self) -> bool:
        """Whether it is the embedded server's."""
        return self._settings.database_url is None

    @property
    def role(self) -> str:
        """The role whose privileges the profile needs."""
        return READER if self._settings.mcp_profile == "reader" else EDITOR

    def url(self, role: str | None = None) -> str:
        """The URL in use, as psql takes it; the embedded server is made to run first.

        `role` is what sessions of the embedded server act as, its superuser by default; at an
        external one they act as the user in the URL. Raises StartupError.
        """
        if self._settings.database_url is not None:
            return self._settings.database_url
        if self._server is None:
            from patchdiff.embedded import EmbeddedServer

            # libpq would look there before it looks at the server's own address
            for name in ELSEWHERE:
                os.environ.pop(name, None)

            self._server = EmbeddedServer(self._settings.home)
        self._server.start()
        return self._server.url(role)

    def connection(self, role: str | None = None) -> psycopg.Connection[Any]:
        """A new connection in autocommit mode, which the caller closes.

        On the embedded server it acts as `role`, or as the superuser without one; elsewhere as the
        user in the URL. Raises DatabaseUnavailableError, or EmbeddedServerError when the embedded
        server does not start.
        """
        if not self.embedded:
            return _connect(self.url())
        # the server is asked for again each time: it may have died since. The options are always
        # given, if only as an empty string, so that PGOPTIONS does not count.
        return _connect(self.url(role), options="" if role is None else f"-c role={role}")

    def administrator_connection(self) -> psycopg.Connection[Any]:
        """A new connection for installing the schema, as `connection` opens it.

        Raises SchemaError as well, for a server that will not do.
        """
        connection = self.connection()
        try:
            check_server(connection)
        except SchemaError:
            connection.close()
            raise
        return connection

    def service_connection(self) -> psycopg.Connection[Any]:
        """The service's connection: the open one, or a new one when there is none or it is lost.

        It is in autocommit mode and can do no more than call the functions of the profile's role.
        The first one is preceded by all checks, and on the embedded server by the migration of its
        database: they raise StartupError. Later ones raise psycopg.OperationalError.
        """
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if not self._checked:
            try:
                self._prepare()
            except psycopg.Error as error:
                raise DatabaseUnavailableError(f"the database failed: {told(error)}") from error
            self._connection = self._session()
            self._checked = True
            return self._connection
        try:
            self._connection = self._session()
        except StartupError as error:
            raise psycopg.OperationalError(str(error)) from error
        return self._connection

    def close(self) -> None:
        """Close the service's connection and use the embedded server no more."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._server is not None:
            self._server.release()

    def _session(self) -> psycopg.Connection[Any]:
        connection = self.connection(self.role)
        # a writer that waited for a target's lock must see what the other one committed
        connection.execute("set default_transaction_isolation = 'read committed'")
        return connection

    def _prepare(self) -> None:
        with self.administrator_connection() as connection:
            status = schema_status(connection)
            if self.embedded and status.state is not SchemaState.CURRENT:
                migrate(connection)
                return
            problem = schema_problem(status) or self._privilege_problem(connection)
            if problem is not None:
                raise SchemaError(problem)

    def _privilege_problem(self, connection: psycopg.Connection[Any]) -> str | None:
        missing = [name for name, held in privileges(connection, self.role).items() if not held]
        if not missing:
            return None
        user = connection.info.user
        others = f" and {len(missing) - 1} more functions" if len(missing) > 1 else ""
        return f"user {user!r} may not call {missing[0]}{others}: {grant_advice(self.role, user)}"


def schema_problem(status: SchemaStatus) -> str | None:
    """What is wrong with a database's schema and what to do, in one line; None when nothing is."""
    match status.state:
        case SchemaState.CURRENT:
            return None
        case SchemaState.MISSING:
            return "the database has no PatchDIFF schema: run patchdiff migrate"
        case SchemaState.OLDER:
            return "the database's schema is not this version's: run patchdiff migrate"
        case SchemaState.NEWER:
            return (
                f"the database's schema is at migration {status.migration}, newer than this "
                f"version of PatchDIFF, which knows {status.newest}: use the newer version"
            )
        case SchemaState.UNREADABLE:
            return (
                "the user may not call patchdiff.schema_version(): "
                f"a DBA must grant {EDITOR} or {READER} to the user"
            )


def grant_advice(role: str, user: str) -> str:
    """What a DBA does about missing privileges."""
    return f'a DBA must run: grant {role} to "{user.replace(chr(34), chr(34) * 2)}"'


def _connect(conninfo: str, **parameters: Any) -> psycopg.Connection[Any]:
    given = conninfo_to_dict(conninfo)
    if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
        parameters["connect_timeout"] = CONNECT_SECONDS
    if "fallback_application_name" not in given:
        parameters["fallback_application_name"] = "patchdiff"
    conninfo = make_conninfo(conninfo, client_encoding="UTF8", **parameters)
    try:
        return psycopg.connect(conninfo, autocommit=True)
    except psycopg.OperationalError as error:
        reason = str(error)
        for secret in ("password", "sslpassword"):
            if value := given.get(secret):
                reason = reason.replace(str(value), "***")
        raise DatabaseUnavailableError(f"cannot connect to the database: {reason}") from None
