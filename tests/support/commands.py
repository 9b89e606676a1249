"""The command `patchdiff` as a process of its own."""

import os
import re
import subprocess
import sys
from typing import Any

from patchdiff.embedded_account import installation
from patchdiff.settings import Settings


def run(
    *arguments: str, stdin: str = "", timeout: float = 120, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command with no PATCHDIFF_ variables but the given ones."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PATCHDIFF_")}
    return subprocess.run(
        [sys.executable, "-m", "patchdiff.cli", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=inherited | environment,
    )


def assert_refused(told: "subprocess.CompletedProcess[str]", *words: str) -> str:
    """Assert exit status 2, one line on standard error with the words, no output; the line."""
    assert told.returncode == 2, told.stderr
    assert told.stdout == ""
    assert len(told.stderr.splitlines()) == 1, told.stderr
    for word in words:
        assert word in told.stderr
    return told.stderr


def schema_dump(url: str) -> str:
    """What pg_dump says of the schema of a database, the same for the same schema."""
    told = subprocess.run(
        [installation() / "bin/pg_dump", "--schema-only", f"--dbname={url}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return re.sub(r"^\\(un)?restrict .*$", "", told, flags=re.MULTILINE)


def settings(**variables: Any) -> Settings:
    """Settings of variables, named without PATCHDIFF_; the others are the environment's."""
    return Settings(**{f"PATCHDIFF_{name}": value for name, value in variables.items()})
