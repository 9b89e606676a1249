"""Every call of the database's functions: one Python function each, and no other SQL in the
package's service.

Each takes an open connection and the arguments of the SQL function of the same name;
``db/functions`` documents them. Nothing here begins or ends a transaction.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

JsonObject = dict[str, Any]

_TOOL_FUNCTIONS: frozenset[LiteralString] = frozenset(
    (
        "initialize_target",
        "get_target",
        "export_target",
        "read_target",
        "read_lines",
        "get_pdcp_log",
        "get_manifest_ledger",
    )
)

_OPEN_ATTEMPT = """
select o.outcome, o.current_content
from patchdiff.open_attempt(
    target_file_id => %(target_file_id)s,
    protocol_version => %(protocol_version)s,
    pdcp_content_hash => %(pdcp_content_hash)s,
    request => %(request)s,
    proposal_failure => %(proposal_failure)s
) as o
"""

_ACCEPT_ATTEMPT = """
select patchdiff.accept_attempt(
    target_file_id => %(target_file_id)s,
    base_version => %(base_version)s,
    base_hash => %(base_hash)s,
    protocol_version => %(protocol_version)s,
    pdcp_content => %(pdcp_content)s,
    request => %(request)s,
    span_starts => %(span_starts)s::bigint [],
    byte_starts => %(byte_starts)s::bigint [],
    after_hash => %(after_hash)s,
    warnings => %(warnings)s
)
"""

_REJECT_ATTEMPT = """
select patchdiff.reject_attempt(
    target_file_id => %(target_file_id)s,
    base_version => %(base_version)s,
    base_hash => %(base_hash)s,
    protocol_version => %(protocol_version)s,
    pdcp_content => %(pdcp_content)s,
    request => %(request)s,
    failure => %(failure)s,
    diagnostic => %(diagnostic)s
)
"""

_PREVIEW_ATTEMPT = """
select p.outcome, p.current_content
from patchdiff.preview_attempt(
    target_file_id => %(target_file_id)s,
    request => %(request)s,
    proposal_failure => %(proposal_failure)s
) as p
"""

_TARGET_TEXT = """
select t.refusal, t.version, t.current_hash, t.current_content
from patchdiff.target_text(target_file_id => %(target_file_id)s) as t
"""

_SAVE_CHECKPOINT = """
select patchdiff.save_checkpoint(
    target_file_id => %(target_file_id)s,
    guards => %(guards)s,
    export_after_save => %(export_after_save)s
)
"""

_INITIALIZE_WORKSPACE_TARGET = """
select patchdiff.initialize_workspace_target(
    filename => %(filename)s,
    content => %(content)s,
    content_type => %(content_type)s,
    project_id => %(project_id)s,
    root_device => %(root_device)s,
    root_inode => %(root_inode)s
)
"""

_OPEN_PUBLICATION = """
select o.answer, o.relative_path, o.content, o.content_eol, o.baseline_sha256, o.baseline_bytes
from patchdiff.open_publication(
    target_file_id => %(target_file_id)s,
    guards => %(guards)s,
    export_after_save => %(export_after_save)s,
    workspace_eol_format => %(workspace_eol_format)s,
    root_device => %(root_device)s,
    root_inode => %(root_inode)s
) as o
"""

_OPEN_OBSERVATION = """
select o.refusal, o.filename, o.target_type, o.version, o.current_hash, o.current_content
from patchdiff.open_observation(
    target_file_id => %(target_file_id)s, for_update => %(for_update)s
) as o
"""

_ISSUE_OBSERVATIONS = """
select patchdiff.issue_observations(
    target_file_id => %(target_file_id)s,
    base_version => %(base_version)s,
    base_hash => %(base_hash)s,
    engine => %(engine)s,
    language => %(language)s,
    scopes => %(scopes)s,
    bundle => %(bundle)s,
    "offset" => %(offset)s,
    max_chars => %(max_chars)s,
    include_line_starts => %(include_line_starts)s
)
"""

_OBSERVED_PAGE = """
select patchdiff.observed_page(
    target_file_id => %(target_file_id)s,
    observation_id => %(observation_id)s,
    engine => %(engine)s,
    "offset" => %(offset)s,
    max_chars => %(max_chars)s,
    include_line_starts => %(include_line_starts)s
)
"""

_REPLAY_INPUTS = """
select r.part, r.facts, r.body
from patchdiff.replay_inputs(target_file_id => %(target_file_id)s) as r
"""

_GET_ATTEMPT = """
select patchdiff.get_attempt(
    target_file_id => %(target_file_id)s,
    pdcp_log_id => %(pdcp_log_id)s,
    include_replaced_text => %(include_replaced_text)s
)
"""

_LIST_ATTEMPTS = """
select patchdiff.list_attempts(
    target_file_id => %(target_file_id)s,
    "limit" => %(limit)s,
    before_sequence => %(before_sequence)s,
    status => %(status)s
)
"""

_LIST_TARGETS = """
select patchdiff.list_targets(
    "limit" => %(limit)s,
    after_target_file_id => %(after_target_file_id)s
)
"""

_VERIFY_TARGET = "select patchdiff.verify_target(target_file_id => %(target_file_id)s)"

_VERIFY_CHAIN = "select patchdiff.verify_chain(target_file_id => %(target_file_id)s)"

_CONTENT_AT = """
select patchdiff.content_at(
    target_file_id => %(target_file_id)s,
    version => %(version)s
)
"""


class Base(NamedTuple):
    """A target's state that a proposal is evaluated on."""

    version: int
    current_hash: str
    text: str


class OpenedAttempt(NamedTuple):
    """What patchdiff.open_attempt answers: its outcome, and the target's text or the beginning
    of it."""

    outcome: JsonObject
    text: str | None


class ObservedFile(NamedTuple):
    """A target as the structural engine sees it, with the state that receipts are issued on."""

    filename: str
    target_type: str
    version: int
    current_hash: str
    text: str


class OpenedPublication(NamedTuple):
    """What patchdiff.open_publication answers: the save's answer; the rest is None unless that is
    saved, and the baseline is also None for a file that must not exist yet."""

    answer: JsonObject
    relative_path: str | None
    content: str
    content_eol: str
    baseline_sha256: str | None
    baseline_bytes: int


class ReplayInput(NamedTuple):
    """One row of patchdiff.replay_inputs: target, snapshot, attempt or refusal."""

    part: str
    facts: JsonObject
    body: str | None


def call_tool_function(
    connection: psycopg.Connection[Any], function: LiteralString, arguments: Mapping[str, object]
) -> JsonObject:
    """Calls the SQL function that serves one tool, by named notation, and returns its JSON answer.

    ``arguments`` are those that the caller gave, under the tool's names. Raises KeyError for a name
    that is no such function, and psycopg.Error when the database refuses or is gone.
    """
    query = _tool_call(function, tuple(arguments))
    return _one(connection, query, arguments)


def target_text(
    connection: psycopg.Connection[Any], target_file_id: str
) -> tuple[JsonObject | None, Base | None]:
    """The refusal of a malformed or unknown id, or the target's text with its version and hash."""
    row = _row(connection, _TARGET_TEXT, {"target_file_id": target_file_id})
    refusal, version, current_hash, text = row
    return (refusal, None) if refusal is not None else (None, Base(version, current_hash, text))


def open_attempt(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    protocol_version: str,
    pdcp_content_hash: str,
    request: JsonObject,
    proposal_failure: JsonObject | None,
) -> OpenedAttempt:
    """Locks the target and judges everything of a submission that needs no evaluation."""
    row = _row(
        connection,
        _OPEN_ATTEMPT,
        {
            "target_file_id": target_file_id,
            "protocol_version": protocol_version,
            "pdcp_content_hash": pdcp_content_hash,
            "request": _jsonb(request),
            "proposal_failure": None if proposal_failure is None else _jsonb(proposal_failure),
        },
    )
    return OpenedAttempt(*row)


def preview_attempt(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    request: JsonObject,
    proposal_failure: JsonObject | None,
) -> OpenedAttempt:
    """Judges what ``open_attempt`` does of guards and proposal, without a lock or a row."""
    row = _row(
        connection,
        _PREVIEW_ATTEMPT,
        {
            "target_file_id": target_file_id,
            "request": _jsonb(request),
            "proposal_failure": None if proposal_failure is None else _jsonb(proposal_failure),
        },
    )
    return OpenedAttempt(*row)


def accept_attempt(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    base: Base,
    protocol_version: str,
    pdcp_content: str,
    request: JsonObject,
    span_starts: Sequence[int],
    byte_starts: Sequence[int],
    after_hash: str,
    warnings: JsonObject | None,
) -> JsonObject:
    """Records an accepted attempt that was evaluated on ``base``; returns the function's
    outcome."""
    return _one(
        connection,
        _ACCEPT_ATTEMPT,
        {
            "target_file_id": target_file_id,
            "base_version": base.version,
            "base_hash": base.current_hash,
            "protocol_version": protocol_version,
            "pdcp_content": pdcp_content,
            "request": _jsonb(request),
            "span_starts": list(span_starts),
            "byte_starts": list(byte_starts),
            "after_hash": after_hash,
            "warnings": None if warnings is None else _jsonb(warnings),
        },
    )


def reject_attempt(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    base_version: int,
    base_hash: str,
    protocol_version: str,
    pdcp_content: str,
    request: JsonObject,
    failure: JsonObject,
    diagnostic: JsonObject,
) -> JsonObject:
    """Records a rejected attempt that was judged on the given base; returns the function's
    outcome."""
    return _one(
        connection,
        _REJECT_ATTEMPT,
        {
            "target_file_id": target_file_id,
            "base_version": base_version,
            "base_hash": base_hash,
            "protocol_version": protocol_version,
            "pdcp_content": pdcp_content,
            "request": _jsonb(request),
            "failure": _jsonb(failure),
            "diagnostic": _jsonb(diagnostic),
        },
    )


def save_checkpoint(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    guards: JsonObject,
    export_after_save: bool,
) -> JsonObject:
    """Saves a target under optional guards, which the function judges; returns the tool's
    answer."""
    return _one(
        connection,
        _SAVE_CHECKPOINT,
        {
            "target_file_id": target_file_id,
            "guards": _jsonb(guards),
            "export_after_save": export_after_save,
        },
    )


def initialize_workspace_target(
    connection: psycopg.Connection[Any],
    arguments: Mapping[str, object],
    *,
    root_device: int,
    root_inode: int,
) -> JsonObject:
    """Makes a target of a file's text and records where the file is; returns the tool's answer."""
    return _one(
        connection,
        _INITIALIZE_WORKSPACE_TARGET,
        {**arguments, "root_device": root_device, "root_inode": root_inode},
    )


def open_publication(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    guards: JsonObject,
    export_after_save: bool,
    workspace_eol_format: str,
    root_device: int,
    root_inode: int,
) -> OpenedPublication:
    """Saves a target and records what is about to be written to its file, which the caller does
    before it commits."""
    return OpenedPublication(
        *_row(
            connection,
            _OPEN_PUBLICATION,
            {
                "target_file_id": target_file_id,
                "guards": _jsonb(guards),
                "export_after_save": export_after_save,
                "workspace_eol_format": workspace_eol_format,
                "root_device": root_device,
                "root_inode": root_inode,
            },
        )
    )


def open_observation(
    connection: psycopg.Connection[Any], target_file_id: str, for_update: bool
) -> ObservedFile | JsonObject:
    """The target's name, type and text, locked with ``for_update``; or the refusal of its id."""
    refusal, *file = _row(
        connection,
        _OPEN_OBSERVATION,
        {"target_file_id": target_file_id, "for_update": for_update},
    )
    return ObservedFile(*file) if refusal is None else refusal


def issue_observations(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    base_version: int,
    base_hash: str,
    engine: str,
    language: str,
    scopes: Sequence[JsonObject],
    bundle: bool,
    offset: int,
    max_chars: int | None,
    include_line_starts: bool,
) -> JsonObject:
    """Issues receipts of scopes found on a state of a target, with their first pages; returns the
    function's outcome."""
    return _one(
        connection,
        _ISSUE_OBSERVATIONS,
        {
            "target_file_id": target_file_id,
            "base_version": base_version,
            "base_hash": base_hash,
            "engine": engine,
            "language": language,
            "scopes": Jsonb(list(scopes), dumps=_dumps),
            "bundle": bundle,
            "offset": offset,
            "max_chars": max_chars,
            "include_line_starts": include_line_starts,
        },
    )


def observed_page(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    observation_id: str,
    engine: str,
    offset: int,
    max_chars: int | None,
    include_line_starts: bool,
) -> JsonObject:
    """A page of a scope by its receipt; returns the tool's answer."""
    return _one(
        connection,
        _OBSERVED_PAGE,
        {
            "target_file_id": target_file_id,
            "observation_id": observation_id,
            "engine": engine,
            "offset": offset,
            "max_chars": max_chars,
            "include_line_starts": include_line_starts,
        },
    )


def replay_inputs(
    connection: psycopg.Connection[Any], target_file_id: str
) -> Generator[ReplayInput]:
    """Everything that a replay needs, from one observation, row by row.

    The connection is busy until the last row was taken or the iterator closed.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        rows = cursor.stream(_REPLAY_INPUTS, {"target_file_id": target_file_id})
        try:
            for row in rows:
                yield ReplayInput(*row)
        finally:
            # a statement that is cut short would end the caller's transaction
            for _ in rows:
                pass


def get_attempt(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str | None,
    pdcp_log_id: str,
    include_replaced_text: bool = True,
) -> JsonObject:
    """One attempt whole, with its changes and their texts; None looks in all targets."""
    return _one(
        connection,
        _GET_ATTEMPT,
        {
            "target_file_id": target_file_id,
            "pdcp_log_id": pdcp_log_id,
            "include_replaced_text": include_replaced_text,
        },
    )


def list_attempts(
    connection: psycopg.Connection[Any],
    *,
    target_file_id: str,
    limit: int,
    before_sequence: int | None,
    status: str | None,
) -> JsonObject:
    """A page of a target's attempts, newest first, with their sources and cycles."""
    return _one(
        connection,
        _LIST_ATTEMPTS,
        {
            "target_file_id": target_file_id,
            "limit": limit,
            "before_sequence": before_sequence,
            "status": status,
        },
    )


def list_targets(
    connection: psycopg.Connection[Any], *, limit: int, after_target_file_id: str | None
) -> JsonObject:
    """A page of the targets in the order of their ids, with the number of all."""
    return _one(
        connection,
        _LIST_TARGETS,
        {"limit": limit, "after_target_file_id": after_target_file_id},
    )


def verify_target(connection: psycopg.Connection[Any], target_file_id: str) -> JsonObject:
    """The integrity of one target: status, checks and failures."""
    return _one(connection, _VERIFY_TARGET, {"target_file_id": target_file_id})


def verify_chain(connection: psycopg.Connection[Any], target_file_id: str) -> JsonObject:
    """The hash chain of one target: status, rows verified, head, and the first row that does not
    fit."""
    return _one(connection, _VERIFY_CHAIN, {"target_file_id": target_file_id})


def content_at(connection: psycopg.Connection[Any], target_file_id: str, version: int) -> str:
    """The text of a target at one of its versions. Raises psycopg.DatabaseError with SQLSTATE
    PD030 where there is no such version and PD031 where the history does not lead to it."""
    text: str = _row(
        connection, _CONTENT_AT, {"target_file_id": target_file_id, "version": version}
    )[0]
    return text


@cache
def _tool_call(function: LiteralString, names: tuple[str, ...]) -> bytes:
    if function not in _TOOL_FUNCTIONS:
        raise KeyError(function)
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    query = sql.SQL("select {}({})").format(sql.Identifier("patchdiff", function), named)
    return query.as_bytes()


def _one(
    connection: psycopg.Connection[Any], query: Any, parameters: Mapping[str, object]
) -> JsonObject:
    answer: JsonObject = _row(connection, query, parameters)[0]
    return answer


def _row(
    connection: psycopg.Connection[Any], query: Any, parameters: Mapping[str, object]
) -> tuple[Any, ...]:
    # the connection may be the caller's, with rows of his own making
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(query, parameters).fetchone()
    assert row is not None
    return row


def _jsonb(value: JsonObject) -> Jsonb:
    return Jsonb(value, dumps=_dumps)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
