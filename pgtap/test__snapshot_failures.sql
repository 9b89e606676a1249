-- req: REPL-025
begin;
select plan(15);

select make_history('_snapshot_failures');

select is(patchdiff._snapshot_failures(pg_temp.id()::uuid), '[]', 'an intact history has no failure');
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$snapshot initial: content = content || 'x'$q$,
        'content_hash_differs', 'an altered text'
    ),
    (
        $q$snapshot initial: content_hash = repeat('0', 64)$q$,
        'content_hash_differs, history_hash_differs', 'an altered hash'
    ),
    (
        $q$snapshot initial: content = 'x', content_hash = encode(sha256('x'), 'hex')$q$,
        'history_hash_differs', 'an altered initial text with its hash'
    ),
    (
        $q$snapshot save_checkpoint: content = 'x', content_hash = encode(sha256('x'), 'hex')$q$,
        'history_hash_differs', 'an altered saved text with its hash'
    ),
    (
        $q$snapshot initial: version = 1$q$,
        'history_hash_differs, initial_version_differs', 'an initial snapshot of another version'
    ),
    (
        $q$snapshot save_checkpoint: version = 2$q$,
        'history_hash_differs, save_cycle_differs', 'a save of another version'
    ),
    (
        $q$snapshot save_checkpoint: version = 9$q$,
        'save_cycle_differs, version_unknown', 'a save of a version that never was'
    ),
    (
        $q$snapshot save_checkpoint: created_at = created_at + interval '1 microsecond'$q$,
        'save_cycle_differs', 'a save at another time'
    ),
    (
        $q$snapshot save_checkpoint: editing_cycle_id = gen_random_uuid()$q$,
        'save_cycle_differs, save_snapshot_missing', 'a save of another cycle'
    ),
    (
        $q$delete from patchdiff.target_snapshots where target_file_id = <t> and snapshot_reason = 'initial'$q$,
        'initial_snapshot_missing', 'the initial snapshot removed'
    ),
    (
        $q$delete
            from patchdiff.target_snapshots
            where target_file_id = <t> and snapshot_reason = 'save_checkpoint'$q$,
        'save_snapshot_missing', 'a save''s snapshot removed'
    ),
    (
        $q$delete from patchdiff.append_only_pdcp_logs where target_file_id = <t> and log_sequence = <1>$q$,
        'history_hash_differs, version_unknown', 'the attempt that led there removed'
    )
) as t (statement, expected, what);
select is(
    (
        select string_agg(f ->> 'code', ', ')
        from jsonb_array_elements(patchdiff._snapshot_failures('00000000-0000-4000-8000-000000000000')) as f
    ),
    'initial_snapshot_missing', 'a target without anything'
);
set constraints all deferred;
create temp table fresh as select patchdiff.initialize_target('fresh', 'x') ->> 'target_file_id' as target;
select is(patchdiff._snapshot_failures(f.target::uuid), '[]', 'a fresh target is intact') from fresh as f;

select * from finish();
rollback;
