"""`patchdiff report`: a target's history as one HTML page."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from patchdiff.history import observing
from patchdiff.report_history import read_history
from patchdiff.report_page import page
from patchdiff.settings import Settings, StartupError


def run(settings: Settings, target_file_id: str, file: str, limit: int) -> None:
    """Write the report of the newest `limit` attempts to the file, or to standard output for "-".

    The file appears whole or not at all. Raises StartupError.
    """
    with observing(settings) as connection:
        history = read_history(connection, target_file_id, limit)
    content = page(history, datetime.now(UTC)).encode("utf-8")
    if file == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        _write(Path(file), content)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StartupError(f"cannot write {file!r}: {reason}") from None
    status = history.verification["status"]
    click.echo(f"Wrote {file}: {len(history.attempts):,} attempts, history {status}.", err=True)


def _write(path: Path, content: bytes) -> None:
    # a link stays one, and what is no regular file, such as a pipe, is written to
    path = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        mode = stat.S_IFREG | (0o666 & ~umask)
    if not stat.S_ISREG(mode):
        path.write_bytes(content)
        return
    descriptor, name = tempfile.mkstemp(prefix=".patchdiff-", dir=path.parent)
    try:
        with open(descriptor, "wb") as part:  # noqa: PTH123
            os.fchmod(descriptor, stat.S_IMODE(mode))
            part.write(content)
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        with suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise
