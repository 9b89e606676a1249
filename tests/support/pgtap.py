"""pgTAP, which is not kept here: fetched by package, checked, and loaded as plain SQL.

``python -m tests.support.pgtap`` fetches it into .cache/pgtap and prints where it is.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psycopg

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / ".cache" / "pgtap"
PATH_VARIABLE: Final = "PGTAP_SQL"
SCHEMA: Final = "tap"

_NPM_PACKAGE: Final = "@electric-sql/pglite-pgtap@0.0.15"
_NPM_SHA256: Final = "92ee8ada9672e6201105a78614be8d07b8a76e5c17c85b42c279f6e48c84da68"
_DEBIAN_PACKAGE: Final = "postgresql-15-pgtap"
_DEBIAN_SHA256: Final = "203cc5839a143c567bd36ebfc93085fd124be46d0f990b5dba5399a51d6c75e9"
_FETCH_TIMEOUT_S: Final = 180


class PgtapUnavailableError(Exception):
    """pgTAP can be had from nowhere; the message says what was tried and what to do."""


def load_pgtap(connection: psycopg.Connection[Any]) -> None:
    """Install pgTAP into schema `tap` of a database unless it is there already.

    The file that PGTAP_SQL names is taken first, then the server's own extension, then the
    fetched file. `connection` must be in autocommit mode. Raises PgtapUnavailableError when
    none is to be had.
    """
    if connection.execute("select to_regnamespace(%s)", [SCHEMA]).fetchone() != (None,):
        return
    has_extension = connection.execute(
        "select from pg_available_extensions where name = 'pgtap'"
    ).fetchone()
    with connection.transaction():
        connection.execute(f"create schema {SCHEMA}")
        if has_extension is not None and not os.environ.get(PATH_VARIABLE):
            connection.execute(f"create extension pgtap schema {SCHEMA}")
        else:
            text = pgtap_file().read_bytes()
            connection.execute(f"set local search_path = {SCHEMA}")
            connection.execute(text, prepare=False)


def pgtap_file() -> Path:
    """Return the file with pgTAP's functions: PGTAP_SQL's, or a checked one of a package.

    Raises PgtapUnavailableError when PGTAP_SQL names no file, or when no package could be fetched.
    """
    named = os.environ.get(PATH_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise PgtapUnavailableError(f"{PATH_VARIABLE} names no file: {named}")
        return Path(named)
    sources: list[tuple[str, str, Callable[[Path], bytes]]] = [
        (_NPM_PACKAGE, _NPM_SHA256, _from_npm),
        (_DEBIAN_PACKAGE, _DEBIAN_SHA256, _from_debian),
    ]
    for _, digest, _ in sources:
        cached = CACHE / f"pgtap-{digest[:12]}.sql"
        if cached.is_file() and _sha256(cached.read_bytes()) == digest:
            return cached
    failures = []
    for package, digest, fetch in sources:
        try:
            return _cached(fetch, digest)
        except (OSError, subprocess.SubprocessError, tarfile.TarError, ValueError) as error:
            failures.append(f"{package}: {_reason(error)}")
    raise PgtapUnavailableError(
        f"pgTAP could not be fetched ({'; '.join(failures)}):"
        f" set {PATH_VARIABLE} to the path of its pgtap.sql"
    )


def _cached(fetch: Callable[[Path], bytes], digest: str) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        content = fetch(Path(folder))
    if _sha256(content) != digest:
        raise ValueError(f"the file's SHA-256 is {_sha256(content)}, not {digest}")
    CACHE.mkdir(parents=True, exist_ok=True)
    # several test processes may fetch at once: each file appears whole or not at all
    with tempfile.NamedTemporaryFile(dir=CACHE, delete=False) as part:
        part.write(content)
    Path(part.name).chmod(0o644)
    target = CACHE / f"pgtap-{digest[:12]}.sql"
    Path(part.name).replace(target)
    return target


def _from_npm(folder: Path) -> bytes:
    _run([_program("npm"), "pack", "--silent", _NPM_PACKAGE], folder)
    (package,) = folder.glob("*.tgz")
    inner = _member(package, "package/dist/pgtap.tar.gz")
    (folder / "inner.tar.gz").write_bytes(inner)
    return _member(folder / "inner.tar.gz", "share/postgresql/extension/pgtap--1.3.5.sql")


def _from_debian(folder: Path) -> bytes:
    _run([_program("apt-get"), "download", _DEBIAN_PACKAGE], folder)
    (package,) = folder.glob("*.deb")
    _run([_program("dpkg-deb"), "-x", str(package), "content"], folder)
    return (folder / "content/usr/share/postgresql/15/extension/pgtap--1.2.0.sql").read_bytes()


def _member(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as opened:
        for member in opened:
            file = opened.extractfile(member)
            if file is not None and os.path.normpath(member.name) == name:
                return file.read()
    raise ValueError(f"{archive.name} has no {name}")


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


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    print(pgtap_file())
