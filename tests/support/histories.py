"""Long histories, written by raw SQL, and what a call reads of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]

_LOG = """
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, runtime_version,
    editing_cycle_id, before_version, before_hash, after_version, after_hash, failure_reason,
    failure_detail, source, client_request_id, request_envelope, request_fingerprint, pdcp_content,
    pdcp_content_hash, intent, intent_truncated, diagnostic_json, created_at, previous_row_hash,
    row_hash
)
select
    t.target_file_id, nextval('patchdiff.log_sequence'), gen_random_uuid(),
    case when a.accepted then 'accepted' else 'rejected' end, 'patchdiff-tx/1',
    'patchdiff-mvp-0.2.2', t.active_editing_cycle_id, a.before_version, a.hash,
    case when a.accepted then a.before_version + 1 end, case when a.accepted then a.hash end,
    case when not a.accepted then 'match_absent' end,
    case when not a.accepted then 'The text to match is nowhere in the target.' end,
    'model_response', case when a.n %% 2 = 0 then 'key-' || a.n end, '{}', a.hash, a.record,
    encode(sha256(a.record::bytea), 'hex'), a.intent, false,
    case when not a.accepted then %(diagnostic)s::jsonb end, now(), '', a.hash
from patchdiff.cloud_target_files as t
cross join (
    select
        n, n %% 3 <> 0 as accepted, n - 1 - (n - 1) / 3 as before_version, r.intent,
        '{"protocol":"patchdiff-tx/1","intent":"' || r.intent || '","edits":[]}' as record,
        encode(sha256(n::text::bytea), 'hex') as hash
    from generate_series(1, %(attempts)s) as n
    cross join lateral (select 'Rewrite paragraph ' || n %% 100 as intent) as r
) as a
where t.target_file_id = any(%(targets)s::uuid[])
order by a.n
"""
_LEDGER = """
insert into patchdiff.manifest_ledger (
    target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version,
    after_version, change_index, change_id, intent, transaction_intent, origin, derived, created_at
)
select
    l.target_file_id, nextval('patchdiff.ledger_sequence'), l.pdcp_log_id, l.log_sequence,
    l.editing_cycle_id, l.before_version, l.after_version, 1, 'chg_001', l.intent, l.intent,
    'typed',
    jsonb_build_object(
        'change_id', 'chg_001', 'change_index', 1, 'span_start', 11, 'span_end', 16,
        'matched_chars', 5, 'replacement_chars', 5,
        'matched_sha256', l.before_hash, 'replacement_sha256', l.after_hash
    ),
    l.created_at
from patchdiff.append_only_pdcp_logs as l
where l.target_file_id = any(%(targets)s::uuid[]) and l.status = 'accepted'
order by l.log_sequence
"""
_DIAGNOSTIC = (
    '{"code": "match_absent", "retryable": true, "validation_stage": "transaction_applicability"}'
)

_READS = """
select
    coalesce(sum(pg_stat_get_xact_numscans(c.oid)) filter (where c.relkind = 'r'), 0)::bigint,
    coalesce(sum(pg_stat_get_xact_blocks_fetched(c.oid)), 0)::bigint,
    coalesce(sum(pg_stat_get_xact_blocks_fetched(c.oid)) filter (where c.oid = any (r.records)), 0)
        ::bigint
from (
    select array_agg(x.oid) as records
    from pg_class as l
    cross join lateral (
        select l.reltoastrelid as oid
        union all
        select i.indexrelid from pg_index as i where i.indrelid = l.reltoastrelid
    ) as x
    where l.oid = 'patchdiff.append_only_pdcp_logs'::regclass
) as r
cross join pg_class as c
where c.relnamespace = 'patchdiff'::regnamespace or c.oid = any (r.records)
"""


def lengthen(connection: Connection, target_file_ids: list[str], attempts: int) -> None:
    """Give each of these fresh targets that many attempts, each third one rejected, and their
    ledger rows.

    Every second attempt has a request key, ``key-2``, ``key-4`` and so on; a hundred different
    records take turns. Keys and foreign keys are valid; hashes and the chain are made up.
    """
    values = {"targets": target_file_ids, "attempts": attempts, "diagnostic": _DIAGNOSTIC}
    connection.execute(_LOG, values)
    connection.execute(_LEDGER, values)


def forget_intents(
    connection: Connection, target_file_id: str, table: LiteralString, **columns: object
) -> None:
    """Make rows of a table as if nobody had read their intents: the target's rows with these values
    in these columns, or all of them.

    In the ledger the change's own intent goes too, except for whole replacements.
    """
    forgotten: dict[LiteralString, LiteralString] = {
        "append_only_pdcp_logs": "intent = null, intent_truncated = null",
        "manifest_ledger": "transaction_intent = null, rationale = null,"
        " intent = case when derived ->> 'operation' = 'replace_all' then intent end",
    }
    query = sql.SQL("update {} set {} where target_file_id = %s{}").format(
        sql.Identifier("patchdiff", table),
        sql.SQL(forgotten[table]),
        sql.Composed(sql.SQL(" and {} = %s").format(sql.Identifier(name)) for name in columns),
    )
    overwrite_history(connection, table, query, [target_file_id, *columns.values()])


def overwrite_history(
    connection: Connection, table: LiteralString, query: sql.Composable, values: list[object]
) -> None:
    """Change an append-only table by hand, past the trigger that keeps it."""
    trigger = sql.SQL("alter table {} {} trigger append_only")
    name = sql.Identifier("patchdiff", table)
    with connection.transaction():
        connection.execute(trigger.format(name, sql.SQL("disable")))
        connection.execute(query, values)
        connection.execute(trigger.format(name, sql.SQL("enable always")))


@dataclass
class Reads:
    """What was read of the project's tables: sequential scans, blocks of tables and indexes, and
    those of them that hold the log's long records."""

    sequential_scans: int = 0
    blocks: int = 0
    record_blocks: int = 0


@contextmanager
def counted(connection: Connection) -> Iterator[Reads]:
    """Count what this connection reads inside the block, in a transaction that is rolled back."""
    reads = Reads()
    with connection.transaction(force_rollback=True):
        before = _reads(connection)
        yield reads
        after = _reads(connection)
    reads.sequential_scans, reads.blocks, reads.record_blocks = (
        now - then for now, then in zip(after, before, strict=True)
    )


def _reads(connection: Connection) -> tuple[int, int, int]:
    row = connection.execute(_READS).fetchone()
    assert row is not None
    return row[0], row[1], row[2]
