create or replace function patchdiff.replay_inputs(
    target_file_id text
) returns table (
    part text,
    facts jsonb,
    body text
)
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(replay_inputs.target_file_id);
begin
    return query
    select
        'target',
        jsonb_build_object(
            'version', t.version,
            'current_hash', t.current_hash,
            'missing_attempt', patchdiff._missing_attempt(v_id)
        ),
        t.current_content
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return query select 'refusal', patchdiff._target_refusal(replay_inputs.target_file_id), null::text;
        return;
    end if;
    return query
    select 'snapshot', jsonb_build_object('version', s.version, 'content_hash', s.content_hash), s.content
    from patchdiff.target_snapshots as s
    where s.target_file_id = v_id and s.snapshot_reason = 'initial';
    return query
    select
        'attempt',
        jsonb_build_object(
            'log_sequence', l.log_sequence,
            'pdcp_log_id', l.pdcp_log_id,
            'protocol_version', l.protocol_version,
            'runtime_version', l.runtime_version,
            'pdcp_content_hash', l.pdcp_content_hash,
            'before_version', l.before_version,
            'before_hash', l.before_hash,
            'after_version', l.after_version,
            'after_hash', l.after_hash,
            'editing_cycle_id', l.editing_cycle_id,
            'observation_id', l.observation_id,
            'changes', patchdiff._ledger_facts(v_id, l.pdcp_log_id),
            'receipts', to_jsonb(c.receipts),
            'bundle', (
                select to_jsonb(b)
                from patchdiff.target_scope_bundles as b
                where
                    b.target_file_id = v_id
                    and b.observation_bundle_id = (
                        select r.observation_bundle_id
                        from unnest(c.receipts) as r
                        where r.consumption = 'batch'
                        limit 1
                    )
            )
        ),
        l.pdcp_content
    from patchdiff.append_only_pdcp_logs as l
    cross join lateral (select patchdiff._consumed_receipts(v_id, l.pdcp_log_id) as receipts offset 0) as c
    where l.target_file_id = v_id and l.after_version is not null
    order by l.after_version;
end
$function$;
comment on function patchdiff.replay_inputs(text) is
'Everything that a replay needs, from one observation, a row each: part target (version, current_hash,
missing_attempt: the log_sequence of a gap in the log, or null; body is the text), part snapshot (the initial one,
absent when it is missing), and part attempt for every accepted attempt in order of version, with its ledger facts
as changes and its record as body. For a malformed or unknown target one row, part refusal, with the payload as
facts. For programs that evaluate records themselves: patchdiff.replay_spans replays in SQL.
Contract: patchdiff_replay.';
revoke all on function patchdiff.replay_inputs(text) from public;
grant execute on function patchdiff.replay_inputs(text) to patchdiff_editor, patchdiff_reader;
