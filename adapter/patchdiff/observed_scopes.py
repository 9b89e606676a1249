"""Verifies under the target's lock that receipts' scopes are still symbols of its text.

Version and hash say that already; the engine says it again of the text itself (contract, "Locked
Admission Guarantees"). It has seen the text before, so that this is a look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

import psycopg

from patchdiff import database
from patchdiff.database import ObservedFile
from patchdiff.proposals import PRECONDITION_GUARD, failed
from patchdiff.structure.engine import Engine, StructureError
from patchdiff.structure.selection import DOCUMENT

JsonObject = dict[str, Any]


class ObservedScopes:
    """The structural engine, as submissions use it."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        engine: Engine,
        statement: Callable[[], AbstractContextManager[object]],
    ) -> None:
        """``statement`` gives room for one statement on ``connection``."""
        self._connection = connection
        self._engine = engine
        self._statement = statement
        self._seen: tuple[str, object] | None = None

    def identity(self) -> str | None:
        """The engine's name; None when it cannot be used, which no receipt agrees with."""
        try:
            return self._engine.identity()
        except StructureError:
            return None

    def prepare(self, target_file_id: str, current_hash: object) -> None:
        """Has the engine see a target's text before anything is locked."""
        if self._seen == (target_file_id, current_hash):
            return
        with self._statement():
            opened = database.open_observation(self._connection, target_file_id, False)
        if not isinstance(opened, ObservedFile):
            return
        # a failure is told under the lock, to those whose scope needs a parser
        with suppress(StructureError):
            self._engine.structure(opened.filename, opened.target_type, opened.text)
        self._seen = (target_file_id, opened.current_hash)

    def failure(
        self, text: str, file: Mapping[str, Any], receipts: Sequence[Mapping[str, Any]]
    ) -> JsonObject | None:
        """The failure of receipts whose scopes are no symbols of ``text``; None when all are."""
        if all(self._is_document(text, receipt) for receipt in receipts):
            return None
        try:
            structure = self._engine.structure(file["filename"], file["target_type"], text)
        except StructureError as problem:
            return failed(
                "context_invalid",
                f"The scope cannot be verified: {problem.detail}.",
                PRECONDITION_GUARD,
            ) | {"code": problem.code}
        symbols = {
            (symbol.name, symbol.kind, symbol.start, symbol.end) for symbol in structure.symbols
        }
        for receipt in receipts:
            scope = (
                receipt["symbol_name"],
                receipt["symbol_kind"],
                receipt["scope_start"],
                receipt["scope_end"],
            )
            if scope not in symbols and not self._is_document(text, receipt):
                return failed(
                    "context_invalid",
                    "The receipt's scope is no symbol of the text: observe it again.",
                    PRECONDITION_GUARD,
                ) | {"code": "STALE_OBSERVATION_SCOPE"}
        return None

    @staticmethod
    def _is_document(text: str, receipt: Mapping[str, Any]) -> bool:
        scope = (receipt["symbol_kind"], receipt["scope_start"], receipt["scope_end"])
        return scope == (DOCUMENT, 0, len(text))
