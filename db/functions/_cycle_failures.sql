create or replace function patchdiff._cycle_failures(
    target_file_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target record;
    v_failures jsonb;
begin
    select t.active_editing_cycle_id, t.version
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = _cycle_failures.target_file_id;

    with cycles as materialized (
        select
            c.editing_cycle_id, c.opened_at, c.opened_version, c.closed_at, c.closed_version,
            row_number() over w as place,
            lag(c.closed_at) over w as previous_closed_at,
            lag(c.closed_version) over w as previous_closed_version
        from patchdiff.editing_cycles as c
        where c.target_file_id = _cycle_failures.target_file_id
        window w as (order by c.opened_at, c.closed_at, c.editing_cycle_id)
    ),
    failures as (
        select
            c.place, f.code,
            format('Editing cycle %s: %s', c.editing_cycle_id, f.failure_detail) as failure_detail
        from cycles as c
        cross join lateral (
            values
            (
                c.closed_at is null and c.editing_cycle_id <> v_target.active_editing_cycle_id,
                'open_cycle_not_active', 'it is open and not the target''s active one.'
            ),
            (
                c.closed_at is not null and c.editing_cycle_id = v_target.active_editing_cycle_id,
                'active_cycle_closed', 'it is the target''s active one and closed.'
            ),
            (
                case when c.place = 1 then 0 else c.previous_closed_version end is distinct from c.opened_version,
                'opened_version_differs', 'it was not opened at the version at which the one before it was closed.'
            ),
            (
                coalesce(c.closed_version, v_target.version) < c.opened_version,
                'closed_version_differs', 'it ends at a version before the one at which it was opened.'
            ),
            (
                c.closed_at < c.opened_at or c.opened_at < c.previous_closed_at,
                'times_out_of_order',
                'it was closed before it was opened, or opened before the one before it was closed;'
                || ' a time was altered, or the server''s clock was set back.'
            )
        ) as f (holds, code, failure_detail)
        where f.holds
        union all
        select 0, 'active_cycle_missing', 'The target''s active editing cycle does not exist.'
        where not exists (
            select from cycles as c where c.editing_cycle_id = v_target.active_editing_cycle_id
        )
    )
    select jsonb_agg(patchdiff._check_failure('cycles', f.code, f.failure_detail) order by f.place, f.code)
    into v_failures
    from (
        select a.* from failures as a order by a.place, a.code limit 100
    ) as f;
    return coalesce(v_failures, '[]');
exception
    when others then
        return jsonb_build_array(patchdiff._check_failure('cycles', 'check_failed', sqlerrm));
end
$function$;
comment on function patchdiff._cycle_failures(uuid) is
'Check of patchdiff.verify_target: exactly one editing cycle is open, the active one, and each was opened where and
when the one before it was closed. The first 100 failures, in order of the cycles.';
revoke all on function patchdiff._cycle_failures(uuid) from public;
