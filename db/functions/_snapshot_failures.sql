create or replace function patchdiff._snapshot_failures(
    target_file_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_failures jsonb;
begin
    with snapshots as materialized (
        select
            s.snapshot_id, s.editing_cycle_id, s.snapshot_reason, s.version, s.created_at, s.content_hash,
            patchdiff._sha256_hex(s.content) as actual_hash,
            -- the history's hash at a version: what the attempt made that led to it, or what the first one found
            case
                when s.version = 0 then coalesce(
                    (
                        select l.before_hash
                        from patchdiff.append_only_pdcp_logs as l
                        where l.target_file_id = s.target_file_id
                        order by l.log_sequence
                        limit 1
                    ),
                    (
                        select t.current_hash
                        from patchdiff.cloud_target_files as t
                        where t.target_file_id = s.target_file_id
                    )
                )
                else (
                    select l.after_hash
                    from patchdiff.append_only_pdcp_logs as l
                    where l.target_file_id = s.target_file_id and l.after_version = s.version
                    order by l.log_sequence
                    limit 1
                )
            end as history_hash
        from patchdiff.target_snapshots as s
        where s.target_file_id = _snapshot_failures.target_file_id
    ),
    cycles as (
        select c.editing_cycle_id, c.closed_at, c.closed_version
        from patchdiff.editing_cycles as c
        where c.target_file_id = _snapshot_failures.target_file_id
    ),
    failures as (
        select
            s.created_at, s.snapshot_id, f.code,
            format('Snapshot %s of version %s: %s', s.snapshot_id, s.version, f.failure_detail) as failure_detail
        from snapshots as s
        left join cycles as c on s.editing_cycle_id = c.editing_cycle_id
        cross join lateral (
            values
            (
                s.content_hash is distinct from s.actual_hash,
                'content_hash_differs', 'content_hash is not the SHA-256 of content.'
            ),
            (
                s.history_hash is null,
                'version_unknown', 'the history has no such version.'
            ),
            (
                s.content_hash <> s.history_hash,
                'history_hash_differs', 'content_hash is not the hash that the history has at this version.'
            ),
            (
                s.snapshot_reason = 'initial' and s.version <> 0,
                'initial_version_differs', 'the initial snapshot is of version 0.'
            ),
            (
                s.snapshot_reason = 'save_checkpoint' and (
                    c.closed_version is distinct from s.version or c.closed_at is distinct from s.created_at
                ),
                'save_cycle_differs', 'its editing cycle was not closed by this save.'
            )
        ) as f (holds, code, failure_detail)
        where f.holds
        union all
        select null, null, 'initial_snapshot_missing', 'The target has no initial snapshot.'
        where not exists (select from snapshots as s where s.snapshot_reason = 'initial')
        union all
        select
            c.closed_at, c.editing_cycle_id, 'save_snapshot_missing',
            format('The save that closed editing cycle %s has no snapshot.', c.editing_cycle_id)
        from cycles as c
        where
            c.closed_at is not null
            and not exists (
                select from snapshots as s
                where s.editing_cycle_id = c.editing_cycle_id and s.snapshot_reason = 'save_checkpoint'
            )
    )
    select jsonb_agg(
        patchdiff._check_failure('snapshots', f.code, f.failure_detail) order by f.created_at, f.code, f.snapshot_id
    )
    into v_failures
    from (
        select a.* from failures as a order by a.created_at, a.code, a.snapshot_id limit 100
    ) as f;
    return coalesce(v_failures, '[]');
exception
    when others then
        return jsonb_build_array(patchdiff._check_failure('snapshots', 'check_failed', sqlerrm));
end
$function$;
comment on function patchdiff._snapshot_failures(uuid) is
'Check of patchdiff.verify_target: each snapshot''s text has its hash, and the history has that hash at its version;
the initial one is there, and one for each save. The first 100 failures, in order of time.';
revoke all on function patchdiff._snapshot_failures(uuid) from public;
