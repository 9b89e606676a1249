create or replace function patchdiff._attempt_observation(
    target_file_id uuid,
    pdcp_log_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_attempt record;
begin
    select l.protocol_version, l.observation_id, l.status, l.before_version, l.after_version, l.pdcp_content
    into v_attempt
    from patchdiff.append_only_pdcp_logs as l
    where l.target_file_id = _attempt_observation.target_file_id and l.pdcp_log_id = _attempt_observation.pdcp_log_id;
    if v_attempt.protocol_version <> 'patchdiff-observed-batch/1' or v_attempt.status <> 'accepted' then
        return case
            when v_attempt.observation_id is null then '{}'
            else jsonb_build_object('observation_id', v_attempt.observation_id)
        end;
    end if;
    return (
        select
            jsonb_build_object(
                'before_version', v_attempt.before_version,
                'after_version', v_attempt.after_version,
                'observation_bundle_id', v_attempt.pdcp_content::jsonb -> 'observation_bundle_id',
                'group_count', count(*),
                'change_count', sum(g.change_count),
                'groups', jsonb_agg(
                    jsonb_build_object(
                        'observation_id', g.observation_id,
                        'symbol', jsonb_build_object('name', o.symbol_name, 'kind', o.symbol_kind),
                        'scope_start', o.scope_start,
                        'scope_end', o.scope_end,
                        'change_count', g.change_count
                    ) order by g.first_change
                )
            )
        from (
            select c.observation_id, count(*) as change_count, min(c.change_index) as first_change
            from patchdiff._record_changes(v_attempt.protocol_version, v_attempt.pdcp_content) as c
            group by c.observation_id
        ) as g
        left join patchdiff.target_scope_observations as o
            on o.target_file_id = _attempt_observation.target_file_id and g.observation_id = o.observation_id
    );
end
$function$;
comment on function patchdiff._attempt_observation(uuid, uuid) is
'What the answer to an observed attempt has beside that of any other: the receipt of one in single form; of an
accepted batch both versions, the bundle, counts, and a summary of each group with its scope as it was observed.
An empty object for an attempt that was not observed.';
revoke all on function patchdiff._attempt_observation(uuid, uuid) from public;
