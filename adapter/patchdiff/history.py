"""What the commands for people read: the history of targets, as the reader role sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

import psycopg
from psycopg import IsolationLevel

from patchdiff import database
from patchdiff.change_diff import ChangeDiff, change_diff, surroundings
from patchdiff.connect import Database, DatabaseUnavailableError
from patchdiff.records import OBSERVED_BATCH
from patchdiff.schema import told
from patchdiff.settings import Settings, StartupError
from patchdiff.text import sha256_hex

JsonObject = dict[str, Any]

PAGE: Final = 200
"""Entries asked for at once: the most that a page holds."""

LARGEST_BIGINT: Final = 2**63 - 1

_UNRECONSTRUCTIBLE: Final = ("PD030", "PD031")


class UnknownSubjectError(StartupError):
    """The target or attempt that was named does not exist; the text is the database's own."""


@contextmanager
def reading(settings: Settings) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the reader role, in autocommit mode, for reading only.

    An embedded database is migrated first where need be, another one never. Raises StartupError
    when there is no usable database, and when it fails later on.
    """
    with closing(Database(settings.model_copy(update={"mcp_profile": "reader"}))) as source:
        connection = source.service_connection()
        connection.read_only = True
        try:
            yield connection
        except psycopg.Error as error:
            raise DatabaseUnavailableError(f"the database failed: {told(error)}") from error


@contextmanager
def observing(settings: Settings) -> Iterator[psycopg.Connection[Any]]:
    """The connection of `reading` in one transaction: everything read is of one moment."""
    with reading(settings) as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            yield connection


def known(answer: JsonObject) -> JsonObject:
    """The answer, unless it is a refusal: that raises UnknownSubjectError with its sentence."""
    if answer.get("status") in ("invalid_argument", "not_found"):
        raise UnknownSubjectError(str(answer["failure_detail"]))
    return answer


def text_at(connection: psycopg.Connection[Any], target_file_id: str, version: int) -> str | None:
    """The text of a version, or None where a damaged history does not lead to it."""
    try:
        # a failure ends no more than this savepoint
        with connection.transaction():
            return database.content_at(connection, target_file_id, version)
    except psycopg.DatabaseError as error:
        if error.sqlstate not in _UNRECONSTRUCTIBLE:
            raise
        return None


@dataclass(frozen=True)
class Change:
    """One change of an attempt: its entry as get_attempt answers it, and what it did where its
    texts are known."""

    entry: JsonObject
    diff: ChangeDiff | None

    @property
    def span(self) -> tuple[int, int] | None:
        """Code points of the buffer that the change saw, where they are recorded or proposed."""
        facts = self.entry.get("derived", self.entry)
        if not isinstance(facts, dict):
            return None
        start, end = facts.get("span_start"), facts.get("span_end")
        return (start, end) if isinstance(start, int) and isinstance(end, int) else None


class Rewriting:
    """A text that attempts are applied to one after the other, to see each change in its place.

    `text` is None from where the history does not fit it any more.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text

    def apply(self, attempt: JsonObject, shown: int) -> list[Change]:
        """The first `shown` changes of an accepted attempt in their places; all are applied."""
        changes: dict[int, Change] = {}
        for position in _order_of_application(attempt):
            change, self.text = self._change(attempt["changes"][position], position < shown)
            if position < shown:
                changes[position] = change
        if self.text is not None and sha256_hex(self.text) != attempt["after_hash"]:
            self.text = None
        return [changes[position] for position in sorted(changes)]

    def _change(self, entry: JsonObject, shown: bool) -> tuple[Change, str | None]:
        old, new = entry["old_text"], entry["new_text"]
        span = Change(entry, None).span
        text = self.text
        if text is None or new is None or span is None:
            known = shown and old is not None and new is not None
            return Change(entry, change_diff(old, new, None) if known else None), None
        start, end = span
        found = text[start:end] if 0 <= start <= end <= len(text) else None
        if found is None or (old is not None and old != found):
            known = shown and old is not None
            return Change(entry, change_diff(old, new, None) if known else None), None
        diff = change_diff(found, new, surroundings(text, start, end)) if shown else None
        return Change(entry, diff), f"{text[:start]}{new}{text[end:]}"


def _order_of_application(attempt: JsonObject) -> Sequence[int]:
    """The positions of an attempt's changes in the order in which their recorded places hold.

    That is their own, but for a batch: its scopes do not move each other, so they are gone through
    from the last to the first. A scope is where its first change is.
    """
    entries = attempt["changes"]
    positions = range(len(entries))
    if attempt["protocol_version"] != OBSERVED_BATCH:
        return positions
    try:
        sizes = [
            len(group["operations"]) for group in json.loads(attempt["pdcp_content"])["groups"]
        ]
        starts = [entry["derived"]["span_start"] for entry in entries]
        ends = list(accumulate(sizes))
        groups = [positions[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        groups.sort(key=lambda group: starts[group[0]], reverse=True)
    except (KeyError, IndexError, TypeError, ValueError, RecursionError):
        # a damaged record or ledger: their texts are shown without a place
        return positions
    order = [position for group in groups for position in group]
    return order if len(order) == len(entries) else positions


def proposed(attempt: JsonObject, shown: int) -> list[Change]:
    """The first `shown` changes that a rejected attempt asked for, without places."""
    return [
        Change(entry, _proposal(entry)) for entry in (attempt["proposed_changes"] or [])[:shown]
    ]


def _proposal(entry: JsonObject) -> ChangeDiff | None:
    old, new = entry["old_text"], entry["new_text"]
    return None if new is None else change_diff(old or "", new, None)


def attempts(
    connection: psycopg.Connection[Any],
    target_file_id: str,
    limit: int,
    before_sequence: int | None = None,
    status: str | None = None,
) -> tuple[Sequence[JsonObject], int | None]:
    """The newest attempts below a sequence, newest first, at most `limit`, and the sequence to go
    on below, None when there is no more. Raises UnknownSubjectError for a target that is none."""
    entries: list[JsonObject] = []
    following = before_sequence
    while True:
        page = known(
            database.list_attempts(
                connection,
                target_file_id=target_file_id,
                limit=min(PAGE, limit - len(entries)),
                before_sequence=following,
                status=status,
            )
        )
        entries += page["entries"]
        following = page["next_sequence"]
        if following is None or len(entries) >= limit:
            return entries, following
