"""`patchdiff psql`: psql on the database in use."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from patchdiff.connect import Database
from patchdiff.settings import Settings, StartupError


def run(settings: Settings, arguments: Sequence[str]) -> int:
    """Run psql with `arguments` on the database of `settings`; the answer is its exit status.

    The embedded server is used with its own psql, any other with the one in PATH where there is
    one. Raises StartupError when there is no psql or no database.
    """
    with closing(Database(settings)) as database:
        url = database.url()
        program = _program(database.embedded)
        given = conninfo_to_dict(url)
        environment = dict(os.environ)
        # the command line is readable by everybody on the machine
        if password := given.pop("password", None):
            environment["PGPASSWORD"] = str(password)
        # else PGOPTIONS would count
        if database.embedded:
            given["options"] = ""
        conninfo = make_conninfo("", **given)
        command = [str(program), f"--dbname={conninfo}", *arguments]
        try:
            process = subprocess.Popen(command, env=environment)
        except OSError as error:
            raise StartupError(f"cannot run {program}: {error.strerror}") from None
        # psql itself deals with Ctrl-C
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            status = process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            signal.signal(signal.SIGINT, previous)
    return status if status >= 0 else 128 - status


def _program(embedded: bool) -> Path:
    found = None if embedded else shutil.which("psql")
    if found is not None:
        return Path(found)
    from patchdiff.embedded_account import installation

    return installation() / "bin" / "psql"
