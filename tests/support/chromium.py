"""Chromium, which is not kept here: a program of the machine, or one that a package brings.

``python -m tests.support.chromium`` gets it into .cache/chromium where need be and prints where
it is.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / ".cache" / "chromium"
PATH_VARIABLE: Final = "PATCHDIFF_TEST_CHROMIUM"

_PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
_NPM_PACKAGE: Final = "@sparticuz/chromium@153.0.0"
_NPM_SHA256: Final = "20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0"
_NPM_MACHINES: Final = ("x86_64", "AMD64")
_FETCH_TIMEOUT_S: Final = 300

# The package's files are compressed by an algorithm that Node.js has and Python has not.
_DECOMPRESS: Final = (
    "const [from, to] = process.argv.slice(1);"
    "const fs = require('node:fs');"
    "require('node:stream').pipeline(fs.createReadStream(from),"
    " require('node:zlib').createBrotliDecompress(), fs.createWriteStream(to),"
    " (error) => { if (error) throw error; });"
)

_FONTS: Final = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{}</dir>
</fontconfig>
"""


class ChromiumUnavailableError(Exception):
    """Chromium can be had from nowhere; the message says what was tried and what to do."""


@dataclass(frozen=True)
class Chromium:
    """A program, and the environment variables that it needs besides the caller's."""

    program: Path
    environment: dict[str, str] = field(default_factory=dict)


def chromium() -> Chromium:
    """The Chromium that PATCHDIFF_TEST_CHROMIUM names, else one in PATH, else the package's.

    Raises ChromiumUnavailableError when the variable names no program, or when there is none in
    PATH and the package could not be fetched.
    """
    named = os.environ.get(PATH_VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise ChromiumUnavailableError(f"{PATH_VARIABLE} names no program: {named}")
        return Chromium(Path(found))
    for name in _PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            return Chromium(Path(found))
    folder = CACHE / _NPM_SHA256[:12]
    if not folder.is_dir():
        try:
            _fetch(folder)
        except (OSError, subprocess.SubprocessError, tarfile.TarError, ValueError) as error:
            raise ChromiumUnavailableError(
                f"no Chromium in PATH, and {_NPM_PACKAGE} could not be fetched ({_reason(error)}):"
                f" install one, or set {PATH_VARIABLE} to the path of its program"
            ) from error
    environment = {
        "LD_LIBRARY_PATH": str(folder / "lib"),
        "FONTCONFIG_FILE": str(folder / "fonts.conf"),
    }
    return Chromium(folder / "chromium", environment)


def _fetch(folder: Path) -> None:
    if platform.machine() not in _NPM_MACHINES:
        raise ValueError(f"it is not made for {platform.machine()}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        work = Path(name)
        _run([_program("npm"), "pack", "--silent", _NPM_PACKAGE], work)
        (package,) = work.glob("*.tgz")
        with package.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != _NPM_SHA256:
            raise ValueError(f"the package's SHA-256 is {digest}, not {_NPM_SHA256}")
        with tarfile.open(package) as archive:
            archive.extractall(work, filter="data")
        made = work / "made"
        made.mkdir()
        _decompress(work / "package/bin/chromium.br", made / "chromium")
        (made / "chromium").chmod(0o755)
        # libraries that a bare machine lacks
        _decompress(work / "package/bin/al2023.tar.br", work / "libraries.tar")
        with tarfile.open(work / "libraries.tar") as archive:
            archive.extractall(made, filter="data")
        # for a machine without a font; its own come first
        _decompress(work / "package/bin/fonts.tar.br", work / "fonts.tar")
        with tarfile.open(work / "fonts.tar") as archive:
            archive.extractall(made / "fonts", filter="data")
        (made / "fonts.conf").write_text(_FONTS.format(folder / "fonts"), encoding="utf-8")
        made.chmod(0o755)
        try:
            # several test processes may fetch at once: the folder appears whole or not at all
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def _decompress(source: Path, target: Path) -> None:
    _run([_program("node"), "-e", _DECOMPRESS, str(source), str(target)], target.parent)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ValueError(f"there is no program {name}")
    return found


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_FETCH_TIMEOUT_S)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = error.stderr.decode(errors="replace").split("\n")
        return f"exit status {error.returncode}, {lines[0].strip()}"
    return str(error)


if __name__ == "__main__":
    print(chromium().program)
