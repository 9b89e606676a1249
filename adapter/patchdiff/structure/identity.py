"""Names the engine by everything that decides which symbols a text has."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from patchdiff.structure.languages import LANGUAGES

NAME = "patchdiff-symbols@1"


@cache
def identity() -> str:
    """`patchdiff-symbols@1+` and 12 hexadecimal digits over parsers, queries and engine source.

    Any change of them changes it. Raises PackageNotFoundError when a parser is not installed.
    """
    names = {name for language in LANGUAGES.values() for name in language.distributions}
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}=={version(name)}\n".encode())
    for path, source in sorted(_sources(files("patchdiff.structure"))):
        digest.update(f"{path} {len(source)}\n".encode() + source)
    return f"{NAME}+{digest.hexdigest()[:12]}"


def _sources(directory: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    found = []
    for entry in directory.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _sources(entry, f"{path}/")
        elif entry.name.endswith((".py", ".scm")):
            found.append((path, entry.read_bytes()))
    return found
