"""What serves the profile `observed-editor-v2`: the service under short names, every answer with a
snapshot, receipts of bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import psycopg

from patchdiff.answers import over_mcp
from patchdiff.arguments import refuse_types
from patchdiff.catalog_observed_editor import (
    HISTORY,
    HISTORY_LIMIT,
    LARGEST_HISTORY_LIMIT,
    OPEN,
)
from patchdiff.service import Service

JsonObject = dict[str, Any]

RECEIPT_BYTES: Final = 32_768
"""The most bytes, as compact ASCII JSON, of an answer of any tool but `read`, `find` and the text
pages of `observe`, which have bounds of their own."""

ECHOED_ID_CODE_POINTS: Final = 64
INTENT_CODE_POINTS: Final = 256
LONGEST_STRING: Final = 1_024

_ENVELOPE_BYTES: Final = 1_024
"""Room for what stands around the entries of a page."""

_REDUCIBLE: Final = ("near_misses", "evidence", "groups", "current_context", "diagnostic")
"""What an answer that is too large goes without, in this order."""

_KEPT_OF_DIAGNOSTIC: Final = (
    "format", "code", "validation_stage", "retryable", "requires_new_submission",
    "occurrence_count", "existing_pdcp_log_id", "group_index",
)  # fmt: skip

_VERSIONS: Final = ("current_version", "target_version", "version")
_HASHES: Final = ("target_current_hash", "current_hash")

_ATTEMPT_FIELDS: Final = (
    "log_sequence", "pdcp_log_id", "status", "before_version", "after_version", "failure_reason",
    "parent_pdcp_log_id", "attempt", "intent", "intent_truncated", "created_at",
)  # fmt: skip
_CHANGE_FIELDS: Final = (
    "ledger_sequence", "pdcp_log_id", "log_sequence", "before_version", "after_version",
    "change_index", "change_id", "created_at",
)  # fmt: skip
_SPAN_FIELDS: Final = ("span_start", "span_end", "matched_chars", "replacement_chars")


class ObservedEditor:
    """The tools of the profile, one method each, over a `patchdiff.Service`.

    Arguments and answers are those of the contract's tools that they stand for. Every answer has
    `snapshot`: target_file_id, version and current_hash of the target as the call left it, null
    where there is no such target.
    """

    def __init__(self, connection: psycopg.Connection[Any], **options: Any) -> None:
        """Serves through `connection`, with the options of `patchdiff.Service`."""
        self._service = Service(connection, **options)

    def open(
        self, target_file_id: str | None = None, filename: str | None = None, **rest: Any
    ) -> JsonObject:
        """Makes a document of `filename` and its content, or opens the one of
        `target_file_id`; answers everything but the text."""
        given = {"target_file_id": target_file_id, "filename": filename, **rest}
        answer = refuse_types(OPEN, given)
        if answer is None and target_file_id is not None:
            named = [name for name, value in given.items() if value not in (None, False)]
            answer = (
                self._opened(target_file_id)
                if named == ["target_file_id"]
                else _invalid(
                    "target_file_id opens an existing document: leave the other arguments out."
                )
            )
        elif answer is None and filename is None:
            answer = _invalid("Give filename and content for a new document, or target_file_id.")
        elif answer is None:
            answer = self._service.initialize_target(filename, **rest)  # type: ignore[arg-type]
        return self._receipt(target_file_id, answer)

    def read(self, target_file_id: str, **rest: Any) -> JsonObject:
        """`patchdiff_read_lines`."""
        return self._answer(target_file_id, self._service.read_lines(target_file_id, **rest))

    def find(self, target_file_id: str, **rest: Any) -> JsonObject:
        """`patchdiff_find_occurrences`."""
        return self._answer(target_file_id, self._service.find_occurrences(target_file_id, **rest))

    def observe(self, target_file_id: str, **rest: Any) -> JsonObject:
        """`patchdiff_observe_scope`, its candidates cut where they would be too many bytes."""
        answer = self._service.observe_scope(target_file_id, **rest)
        if "candidates" in answer:
            kept = _fitting(answer["candidates"], RECEIPT_BYTES - 2 * _ENVELOPE_BYTES)
            if len(kept) < len(answer["candidates"]):
                answer |= {"candidates": kept, "candidates_truncated": True}
        return self._answer(target_file_id, answer)

    def edit(self, target_file_id: str, **rest: Any) -> JsonObject:
        """`patchdiff_submit_observed_operations`."""
        return self._receipt(
            target_file_id, self._service.submit_observed_operations(target_file_id, **rest)
        )

    def save(self, target_file_id: str, **rest: Any) -> JsonObject:
        """`patchdiff_save`, without the text."""
        return self._receipt(target_file_id, self._service.save(target_file_id, **rest))

    def history(
        self,
        target_file_id: str,
        view: str = "attempts",
        limit: int | None = None,
        before_sequence: int | None = None,
        status: str | None = None,
    ) -> JsonObject:
        """A page of the attempts, newest first, or of the accepted changes of all cycles, oldest
        first; fewer entries where they would be too many bytes."""
        refusal = refuse_types(
            HISTORY,
            {
                "target_file_id": target_file_id,
                "view": view,
                "limit": limit,
                "before_sequence": before_sequence,
                "status": status,
            },
        )
        if refusal is None and view == "changes" and status is not None:
            refusal = _invalid("status chooses among attempts: leave it out for changes.")
        if refusal is not None:
            return self._answer(target_file_id, refusal | _page(view, [], False, None))
        size = min(HISTORY_LIMIT if limit is None else limit, LARGEST_HISTORY_LIMIT)
        if view == "attempts":
            answer = self._service.get_pdcp_log(target_file_id, size, before_sequence, status)
        else:
            answer = self._service.get_manifest_ledger(target_file_id, True, size, before_sequence)
        if "status" in answer:
            return self._answer(target_file_id, answer | {"view": view})
        return self._answer(target_file_id, {"status": "ok"} | _history_page(view, answer))

    def _opened(self, target_file_id: str) -> JsonObject:
        answer = self._service.get_target(target_file_id)
        text = answer.pop("current_content", None)
        return answer if text is None else answer | {"total_chars": len(text)}

    def _receipt(self, target_file_id: object, answer: JsonObject) -> JsonObject:
        return _bounded(self._answer(target_file_id, over_mcp(answer)))

    def _answer(self, target_file_id: object, answer: JsonObject) -> JsonObject:
        """`answer` with its snapshot; what it does not say of the target is read."""
        target = answer.get("target_file_id") or target_file_id
        version = _first(answer, _VERSIONS)
        current_hash = _first(answer, _HASHES)
        if (version is None or current_hash is None) and isinstance(target, str):
            state = self._service.read_target(target, length=1)
            version, current_hash = state.get("version"), state.get("current_hash")
        return _with(_snapshot(target, version, current_hash), answer)


def with_snapshot(arguments: Mapping[str, object], payload: JsonObject) -> JsonObject:
    """`payload` with a snapshot: one that names no state when the target was never looked at."""
    if "snapshot" in payload:
        return payload
    return _with(_snapshot(arguments.get("target_file_id"), None, None), payload)


def _snapshot(target: object, version: object, current_hash: object) -> JsonObject:
    known = isinstance(target, str) and len(target) <= ECHOED_ID_CODE_POINTS
    return {
        "target_file_id": target if known else None,
        "version": version,
        "current_hash": current_hash,
    }


def _with(snapshot: JsonObject, payload: JsonObject) -> JsonObject:
    rest = {name: value for name, value in payload.items() if name != "status"}
    return {"status": payload["status"], "snapshot": snapshot, **rest}


def _first(answer: Mapping[str, Any], names: Sequence[str]) -> object:
    return next((answer[name] for name in names if answer.get(name) is not None), None)


def _invalid(detail: str) -> JsonObject:
    return {"status": "invalid_argument", "failure_detail": detail}


def _history_page(view: str, answer: JsonObject) -> JsonObject:
    """A page of the service with entries of bounded size, as many as fit."""
    if view == "attempts":
        entries = [_attempt(entry) for entry in answer["entries"]]
        kept = _fitting(entries, RECEIPT_BYTES - _ENVELOPE_BYTES)
        oldest = "log_sequence"
    else:
        # the newest of a page are its last ones
        entries = [_change(entry) for entry in answer["entries"]]
        kept = _fitting(entries[::-1], RECEIPT_BYTES - _ENVELOPE_BYTES)[::-1]
        oldest = "ledger_sequence"
    if len(kept) == len(entries):
        return _page(view, kept, answer["has_more"], answer["next_sequence"])
    return _page(view, kept, True, min(entry[oldest] for entry in kept))


def _page(
    view: str, entries: Sequence[JsonObject], has_more: bool, next_sequence: int | None
) -> JsonObject:
    return {
        "view": view,
        "entries": list(entries),
        "has_more": has_more,
        "next_sequence": next_sequence,
    }


def _attempt(entry: Mapping[str, Any]) -> JsonObject:
    code = (entry.get("diagnostic") or {}).get("code")
    return {name: entry[name] for name in _ATTEMPT_FIELDS if name in entry} | {"code": code}


def _change(entry: Mapping[str, Any]) -> JsonObject:
    intent = entry["intent"]
    derived = entry.get("derived") or {}
    return {
        **{name: entry[name] for name in _CHANGE_FIELDS if name in entry},
        "intent": None if intent is None else intent[:INTENT_CODE_POINTS],
        "intent_truncated": intent is not None and len(intent) > INTENT_CODE_POINTS,
        **{name: derived[name] for name in _SPAN_FIELDS if name in derived},
    }


def _size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def _fitting(entries: Sequence[JsonObject], room: int) -> list[JsonObject]:
    """The first of `entries` that fit into so many bytes together."""
    kept: list[JsonObject] = []
    for entry in entries:
        room -= _size(entry) + 1
        if room < 0:
            break
        kept.append(entry)
    return kept


def _bounded(answer: JsonObject) -> JsonObject:
    """`answer` in at most RECEIPT_BYTES; `receipt_omitted` names what it goes without."""
    omitted: list[str] = []
    for name in _REDUCIBLE:
        if _size(answer) <= RECEIPT_BYTES - _ENVELOPE_BYTES:
            break
        if name in answer:
            omitted.append(name)
            answer = _without(answer, name)
    for name, value in answer.items():
        if (
            isinstance(value, str)
            and len(value) > LONGEST_STRING
            and _size(answer) > RECEIPT_BYTES - _ENVELOPE_BYTES
        ):
            omitted.append(name)
            answer = answer | {name: None}
    return answer | {"receipt_omitted": omitted} if omitted else answer


def _without(answer: JsonObject, name: str) -> JsonObject:
    rest = {key: value for key, value in answer.items() if key != name}
    if name == "diagnostic":
        kept = answer[name]
        rest[name] = {key: kept[key] for key in _KEPT_OF_DIAGNOSTIC if key in kept}
    return rest
