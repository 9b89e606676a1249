"""Completing an unqualified branch from the workspace's selector file, and from nothing else."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchdiff.plastic.failure import Failure
from patchdiff.plastic.limits import SELECTOR_BYTES
from patchdiff.plastic.paths import SELECTOR, UnreadableError, read_below
from patchdiff.plastic.requests import UNFIT

_REPOSITORY: Final = re.compile(r"\s*rep(?:ository)?\b(.*)")
_SPECIFICATION: Final = re.compile(r'\s+"([^"@;]{1,1024})@([^";]{1,1024})"\s*')
_PATH: Final = re.compile(r"\s*path\b(.*)")
_ROOT: Final = re.compile(r'\s+"/"\s*')
_LONGEST: Final = 1000


@dataclass(frozen=True)
class LocalSelector:
    """The one repository that a workspace's selector names, and the evidence of the file."""

    repository: str
    server: str
    size: int
    sha256: str

    def complete(self, spec: str) -> str:
        """The spec with repository and server, when it is an unqualified branch."""
        return f"{spec}@{self.repository}@{self.server}" if is_unqualified(spec) else spec


def is_unqualified(spec: str) -> bool:
    """Whether a spec is the name of a branch without its repository."""
    return spec.startswith("br:") and "@" not in spec and not spec.startswith("br:brguid:")


def read_selector(root: Path) -> LocalSelector:
    """Read the selector of a workspace.

    Raises Failure `selector_unreadable` unless it is a regular UTF-8 file within its bound, and
    `selector_ambiguous` unless it has one repository, with its server, mapped to the root.
    """
    try:
        content = read_below(root, SELECTOR, SELECTOR_BYTES).content
        text = content.decode("utf-8")
    except (UnreadableError, UnicodeDecodeError):
        raise Failure("selector_unreadable", "selector") from None
    lines = re.split(r"\r?\n", text)
    repositories = [found[1] for line in lines if (found := _REPOSITORY.fullmatch(line))]
    paths = [found[1] for line in lines if (found := _PATH.fullmatch(line))]
    named = _SPECIFICATION.fullmatch(repositories[0]) if len(repositories) == 1 else None
    if named is None or len(paths) != 1 or not _ROOT.fullmatch(paths[0]):
        raise Failure("selector_ambiguous", "selector")
    repository, server = named.groups()
    if UNFIT.search(repository + server) or len(repository) + len(server) > _LONGEST:
        raise Failure("selector_ambiguous", "selector")
    return LocalSelector(
        repository=repository,
        server=server,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )
