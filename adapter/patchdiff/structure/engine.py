"""The server's side of the structural engine: texts go to a child process, symbols come back."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections import OrderedDict
from importlib.metadata import PackageNotFoundError
from types import TracebackType
from typing import Any, Self

from patchdiff.structure import identity as engine_identity
from patchdiff.structure.languages import TEXT, language_of
from patchdiff.structure.symbols import Structure, Symbol
from patchdiff.structure.worker_process import WorkerEndedError, WorkerProcess

LARGEST_TEXT = 1_048_576
"""UTF-8 bytes of the largest text that is parsed."""

PASS_SECONDS = 5.0
START_SECONDS = 30.0
PASSES_OF_A_WORKER = 1_000
CACHED_STRUCTURES = 64
CACHED_SYMBOLS = 200_000
MEMORY_LIMIT_SIGN = 536_870_912
"""A process that crashes after it has mapped this many bytes has met its limit of twice as many:
the largest single block that a parser asks for can be half of what it needs."""


class StructureError(Exception):
    """There is no structure of a text. ``code`` says why, ``detail`` in words, without any text.

    The codes are FILE_TOO_LARGE, STRUCTURE_LIMIT, STRUCTURE_TIMEOUT, STRUCTURE_CRASHED and
    STRUCTURE_UNAVAILABLE; only the last does not depend on the text.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Engine:
    """Structures of texts. It may be shared by threads, which then wait for each other."""

    def __init__(self, pass_seconds: float = PASS_SECONDS) -> None:
        """``pass_seconds`` is the wall clock of one text; the first starts the child process."""
        self._pass_seconds = pass_seconds
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._worker_owner = 0
        self._passes = 0
        self._cache = _Cache()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def worker_pid(self) -> int | None:
        """The number of the child process; None when there is none yet, or no more."""
        worker = self._worker
        return None if worker is None else worker.pid

    def identity(self) -> str:
        """The engine's name for receipts. Raises StructureError when its parsers are missing."""
        try:
            return engine_identity.identity()
        except PackageNotFoundError as error:
            raise StructureError(
                "STRUCTURE_UNAVAILABLE", f"the package {error.name} is not installed"
            ) from None

    def structure(self, filename: str, content_type: str | None, text: str) -> Structure:
        """The structure of ``text`` in the language that its filename or content type tells.

        Raises StructureError, after `pass_seconds` or little more at the latest, and
        UnicodeEncodeError for a text with lone surrogates.
        """
        language = language_of(filename, content_type, text)
        if language == TEXT:
            return Structure(language, False, ())
        encoded = text.encode()
        if len(encoded) > LARGEST_TEXT:
            raise StructureError(
                "FILE_TOO_LARGE",
                f"the text has {len(encoded):,} UTF-8 bytes; at most {LARGEST_TEXT:,} are parsed",
            )
        key = (language, hashlib.sha256(encoded).digest())
        with self._lock:
            structure = self._cache.get(key)
            if structure is None:
                structure = self._parsed(language, text)
                self._cache.put(key, structure)
            return structure

    def close(self) -> None:
        """Ends the child process. The next text starts another one."""
        with self._lock:
            self._discard()

    def _parsed(self, language: str, text: str) -> Structure:
        worker = self._ready_worker()
        self._passes += 1
        try:
            answer = worker.ask((language, text), self._pass_seconds)
            if "code" in answer:
                raise StructureError(answer["code"], answer["detail"])
            return _structure(language, answer)
        except TimeoutError:
            self._discard()
            raise self._timeout() from None
        except WorkerEndedError as ended:
            self._discard()
            raise self._crash(ended) from None
        except BaseException:
            self._discard()
            raise

    def _timeout(self) -> StructureError:
        return StructureError(
            "STRUCTURE_TIMEOUT", f"the text was not parsed within {self._pass_seconds:g} seconds"
        )

    def _crash(self, ended: WorkerEndedError) -> StructureError:
        if ended.signal_number == signal.SIGALRM:
            return self._timeout()
        if ended.largest_bytes >= MEMORY_LIMIT_SIGN:
            return StructureError(
                "STRUCTURE_LIMIT", "the text needs more memory than its parser may have"
            )
        return StructureError("STRUCTURE_CRASHED", "the parser's process ended on this text")

    def _ready_worker(self) -> WorkerProcess:
        if self._worker_owner != os.getpid() or self._passes >= PASSES_OF_A_WORKER:
            self._discard()
        if self._worker is None:
            self._worker = self._started_worker()
            self._worker_owner = os.getpid()
            self._passes = 0
        return self._worker

    def _started_worker(self) -> WorkerProcess:
        expected = self.identity()
        try:
            worker = WorkerProcess()
        except OSError as error:
            raise StructureError(
                "STRUCTURE_UNAVAILABLE", f"the parser's process cannot start: {error.strerror}"
            ) from None
        try:
            found = worker.hear(START_SECONDS)["identity"]
        except TimeoutError:
            worker.kill()
            raise StructureError(
                "STRUCTURE_UNAVAILABLE",
                f"the parser's process was not ready within {START_SECONDS:g} seconds",
            ) from None
        except WorkerEndedError:
            raise StructureError(
                "STRUCTURE_UNAVAILABLE", "the parser's process ended while it started"
            ) from None
        if found != expected:
            worker.kill()
            raise StructureError(
                "STRUCTURE_UNAVAILABLE",
                "the installed engine was changed since this process started: start it again",
            )
        return worker

    def _discard(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()


class _Cache:
    """The structures used last, bounded in their number and that of their symbols together.

    The newest one is kept whatever its size.
    """

    def __init__(self) -> None:
        self._structures: OrderedDict[tuple[str, bytes], Structure] = OrderedDict()
        self._symbols = 0

    def get(self, key: tuple[str, bytes]) -> Structure | None:
        structure = self._structures.get(key)
        if structure is not None:
            self._structures.move_to_end(key)
        return structure

    def put(self, key: tuple[str, bytes], structure: Structure) -> None:
        self._structures[key] = structure
        self._symbols += len(structure.symbols)
        while len(self._structures) > CACHED_STRUCTURES or (
            self._symbols > CACHED_SYMBOLS and len(self._structures) > 1
        ):
            _, dropped = self._structures.popitem(last=False)
            self._symbols -= len(dropped.symbols)


def _structure(language: str, answer: dict[str, Any]) -> Structure:
    symbols: list[Symbol] = []
    for *fields, qualifiers, label, place in answer["symbols"]:
        container = None if place is None else symbols[place]
        symbols.append(Symbol._make((*fields, tuple(qualifiers), label, container)))
    return Structure(language, answer["has_errors"], tuple(symbols))
