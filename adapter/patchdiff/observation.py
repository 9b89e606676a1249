"""patchdiff_observe_scope: symbols of a target as candidates, and receipts of chosen ones.

The structural engine says what there is, the database issues the receipts, on the very state that
the engine saw (contract, "Structural Observation and Scoped Submission").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import psycopg

from patchdiff import database
from patchdiff.database import ObservedFile
from patchdiff.structure.engine import Engine, StructureError
from patchdiff.structure.languages import language_of
from patchdiff.structure.selection import DOCUMENT, candidates, select
from patchdiff.structure.symbols import Structure, Symbol
from patchdiff.text import is_postgresql_text

JsonObject = dict[str, Any]
Connection = psycopg.Connection[Any]

LISTED_CANDIDATES: Final = 200
SELECTIONS: Final = 32
BUNDLE_CODE_POINTS: Final = 65_536
BUNDLE_TEXT_CODE_POINTS: Final = 32_768
PAGE_CODE_POINTS: Final = 4_000
LARGEST_PAGE: Final = 8_000
UNLOCKED_TRIES: Final = 2
"""How often receipts are tried for without holding the target's lock while it is parsed."""

_NO_RECEIPT: Final[JsonObject] = {"observation_id": None}


class _SelectionError(Exception):
    """A selection that no receipt can be issued for: the rest of the answer."""

    def __init__(self, answer: JsonObject) -> None:
        super().__init__(answer.get("code"))
        self.answer = answer


class Observer:
    """Answers observe calls through one connection and one structural engine."""

    def __init__(
        self,
        connection: Connection,
        engine: Engine,
        transaction: Callable[[], AbstractContextManager[object]],
        statement: Callable[[], AbstractContextManager[object]],
    ) -> None:
        """``transaction`` begins a transaction, or joins the one that the caller has open;
        ``statement`` does so for one statement."""
        self._connection = connection
        self._engine = engine
        self._transaction = transaction
        self._statement = statement

    def observe(self, target_file_id: str, given: Mapping[str, Any]) -> JsonObject:
        """The tool's answer; ``given`` has every other argument, of its type."""
        refusal = _refused_combination(given)
        if refusal is not None:
            return refusal
        try:
            if given["observation_id"] is not None:
                return self._page(target_file_id, given)
            return self._observe(target_file_id, given)
        except StructureError as problem:
            return {
                "status": "failed",
                "target_file_id": target_file_id,
                "code": problem.code,
                "failure_detail": f"{problem.detail[:1].upper()}{problem.detail[1:]}. The whole"
                f" text can still be observed: symbol_name <document> with kind {DOCUMENT}.",
                **_NO_RECEIPT,
            }

    def _page(self, target_file_id: str, given: Mapping[str, Any]) -> JsonObject:
        with self._statement():
            return database.observed_page(
                self._connection,
                target_file_id=target_file_id,
                observation_id=given["observation_id"],
                engine=self._engine.identity(),
                offset=given["offset"],
                max_chars=given["max_chars"],
                include_line_starts=given["include_line_starts"],
            )

    def _observe(self, target_file_id: str, given: Mapping[str, Any]) -> JsonObject:
        for _ in range(UNLOCKED_TRIES):
            with self._statement():
                opened = database.open_observation(self._connection, target_file_id, False)
            answer = self._answer(target_file_id, opened, given)
            if answer is not None:
                return answer
        # somebody else writes faster than the text is parsed
        with self._transaction():
            opened = database.open_observation(self._connection, target_file_id, True)
            answer = self._answer(target_file_id, opened, given)
        assert answer is not None
        return answer

    def _answer(
        self, target_file_id: str, opened: ObservedFile | JsonObject, given: Mapping[str, Any]
    ) -> JsonObject | None:
        """The answer for one state of the target; None when the target has left it meanwhile."""
        if not isinstance(opened, ObservedFile):
            return opened
        selections = given["selections"]
        single = {"symbol_name": given["symbol_name"], "kind": given["kind"]}
        structure = self._structure(opened, selections or [single])
        state = {
            "target_file_id": target_file_id,
            "target_version": opened.version,
            "target_current_hash": opened.current_hash,
            "engine": self._engine.identity(),
            "language": structure.language,
        }
        if given["symbol_name"] is None and selections is None:
            found = candidates(structure, opened.text, given["query"], given["kind"])
            return {
                "status": "candidates",
                **state,
                **_NO_RECEIPT,
                "has_errors": structure.has_errors,
                **_listed(found),
            }
        try:
            if selections is None:
                chosen = [_chosen(structure, opened.text, single)]
                length = chosen[0].end - chosen[0].start
                if given["offset"] > length:
                    detail = f"offset must be from 0 to the scope's {length} code points."
                    raise _SelectionError({"status": "invalid_argument", "failure_detail": detail})
            else:
                chosen = _bundled(structure, opened.text, selections, given["max_chars"])
        except _SelectionError as problem:
            missing = {} if selections is None else {"observation_bundle_id": None}
            return {
                "status": problem.answer["status"], **state, **_NO_RECEIPT, **missing,
                **problem.answer,
            }  # fmt: skip
        return self._issued(opened, state, chosen, given)

    def _structure(
        self, opened: ObservedFile, selections: Sequence[Mapping[str, Any]]
    ) -> Structure:
        """What the engine says of the text; the whole document needs no parser."""
        if all(item.get("kind") == DOCUMENT for item in selections):
            language = language_of(opened.filename, opened.target_type, opened.text)
            return Structure(language, False, ())
        return self._engine.structure(opened.filename, opened.target_type, opened.text)

    def _issued(
        self,
        opened: ObservedFile,
        state: JsonObject,
        chosen: Sequence[Symbol],
        given: Mapping[str, Any],
    ) -> JsonObject | None:
        bundle = given["selections"] is not None
        with self._statement():
            issued = database.issue_observations(
                self._connection,
                target_file_id=state["target_file_id"],
                base_version=opened.version,
                base_hash=opened.current_hash,
                engine=state["engine"],
                language=state["language"],
                scopes=[
                    {"name": item.name, "kind": item.kind, "start": item.start, "end": item.end}
                    for item in chosen
                ],
                bundle=bundle,
                offset=given["offset"],
                max_chars=given["max_chars"],
                include_line_starts=given["include_line_starts"],
            )
        if issued["outcome"] == "diverged":
            return {
                "status": "rejected",
                **state,
                **_NO_RECEIPT,
                "failure_reason": "target_diverged",
                "failure_detail": "The stored text and the stored hash of this target disagree:"
                " have it verified.",
            }
        if issued["outcome"] != "issued":
            return None
        if bundle:
            return {
                "status": "observed_batch",
                **state,
                "observation_bundle_id": issued["observation_bundle_id"],
                "scopes": [_ordered(receipt) for receipt in issued["observations"]],
            }
        return {"status": "observed", **state, **_ordered(issued["observations"][0])}


def _refused_combination(given: Mapping[str, Any]) -> JsonObject | None:
    """The refusal of selectors that are blank, or of two ways of selecting at once."""
    for name in ("query", "symbol_name", "kind"):
        if given[name] is not None and not given[name].strip():
            return _invalid(f"{name} must not be blank: leave it out, or send null.")
    if given["selections"] is None:
        if given["observation_id"] is not None and given["symbol_name"] is not None:
            return _invalid(
                "observation_id pages an issued receipt, symbol_name issues a new one: send one of"
                " them."
            )
        return None
    singles = ("query", "symbol_name", "kind", "observation_id")
    others = [name for name in singles if given[name] is not None]
    others += ["offset"] if given["offset"] else []
    if others:
        return _invalid(f"selections stand alone: leave {' and '.join(others)} out.")
    return _refused_selections(given["selections"])


def _refused_selections(selections: object) -> JsonObject | None:
    if not isinstance(selections, list) or not 1 <= len(selections) <= SELECTIONS:
        return _invalid(f"selections must be a list of 1 to {SELECTIONS} objects.")
    for index, item in enumerate(selections):
        if not isinstance(item, Mapping) or not {"symbol_name"} <= set(item) <= {
            "symbol_name",
            "kind",
        }:
            detail = f"selections[{index}] must be an object of symbol_name and optionally kind."
        elif not (isinstance(item["symbol_name"], str) and item["symbol_name"].strip()):
            detail = f"selections[{index}].symbol_name must be a string that is not blank."
        elif not is_postgresql_text(item["symbol_name"]) or not is_postgresql_text(
            str(item.get("kind"))
        ):
            detail = f"selections[{index}] is not valid PostgreSQL text: NUL or a lone surrogate."
        elif item.get("kind") is not None and not (
            isinstance(item["kind"], str) and item["kind"].strip()
        ):
            detail = f"selections[{index}].kind must be null or a string that is not blank."
        else:
            continue
        return _invalid(detail) | {"selection_index": index}
    return None


def _invalid(detail: str) -> JsonObject:
    return {"status": "invalid_argument", "failure_detail": detail, **_NO_RECEIPT}


def _chosen(structure: Structure, text: str, selection: Mapping[str, Any]) -> Symbol:
    """The one symbol that a selection means; raises _SelectionError for none and for several."""
    found = select(structure, text, selection["symbol_name"], selection.get("kind"))
    if not found:
        raise _SelectionError(
            {
                "status": "not_found",
                "code": "SCOPE_NOT_FOUND",
                "failure_detail": "No symbol has this name and kind: list the candidates.",
            }
        )
    if len(found) > 1:
        raise _SelectionError(
            {
                "status": "ambiguous",
                "code": "AMBIGUOUS_SCOPE_SELECTION",
                "failure_detail": f"{len(found)} symbols have this name: add the kind, or put the"
                " parent before the name, as in parent.name.",
                **_listed(found),
            }
        )
    return found[0]


def _bundled(
    structure: Structure,
    text: str,
    selections: Sequence[Mapping[str, Any]],
    max_chars: int | None,
) -> list[Symbol]:
    """The symbols of a bundle, in order: not empty, disjoint, and within the bounds of a bundle."""
    chosen: list[Symbol] = []
    for index, selection in enumerate(selections):
        try:
            symbol = _chosen(structure, text, selection)
        except _SelectionError as problem:
            problem.answer["selection_index"] = index
            raise
        if symbol.start == symbol.end:
            raise _refused_bundle("EMPTY_SCOPE", "The scope is empty.", index)
        if any(symbol.start < other.end and other.start < symbol.end for other in chosen):
            raise _refused_bundle(
                "OVERLAPPING_SCOPES", "The scope overlaps that of an earlier selection.", index
            )
        chosen.append(symbol)
    sizes = [symbol.end - symbol.start for symbol in chosen]
    if sum(sizes) > BUNDLE_CODE_POINTS:
        raise _refused_bundle(
            "BUNDLE_TOO_LARGE",
            f"The scopes have {sum(sizes)} code points together; a bundle has at most"
            f" {BUNDLE_CODE_POINTS}.",
        )
    page = min(PAGE_CODE_POINTS if max_chars is None else max_chars, LARGEST_PAGE)
    shown = sum(min(size, page) for size in sizes)
    if shown > BUNDLE_TEXT_CODE_POINTS:
        raise _refused_bundle(
            "BUNDLE_RESPONSE_TOO_LARGE",
            f"The first pages have {shown} code points together; an answer has at most"
            f" {BUNDLE_TEXT_CODE_POINTS}: send a smaller max_chars, and page on.",
        )
    return chosen


def _refused_bundle(code: str, detail: str, index: int | None = None) -> _SelectionError:
    answer: JsonObject = {"status": "rejected", "code": code, "failure_detail": detail}
    return _SelectionError(answer | ({} if index is None else {"selection_index": index}))


def _listed(found: Sequence[Symbol]) -> JsonObject:
    return {
        "candidates": [
            {
                "name": symbol.name,
                "kind": symbol.kind,
                "parent": symbol.parent,
                "start_line": symbol.start_line,
                "end_line": symbol.end_line,
                "start": symbol.start,
                "end": symbol.end,
                "has_error": symbol.has_error,
            }
            for symbol in found[:LISTED_CANDIDATES]
        ],
        "total_candidates": len(found),
        "candidates_truncated": len(found) > LISTED_CANDIDATES,
    }


_RECEIPT_FIELDS: Final = (
    "observation_id", "observation_bundle_id", "ordinal", "symbol", "scope_start", "scope_end",
    "scope_length", "observed_scope_hash", "offset", "max_chars", "start", "end", "start_line",
    "end_line", "text", "truncated", "next_offset", "next_start", "line_starts",
)  # fmt: skip


def _ordered(receipt: JsonObject) -> JsonObject:
    """A receipt with its fields in an order to read, which jsonb does not keep."""
    return {name: receipt[name] for name in _RECEIPT_FIELDS if name in receipt}
