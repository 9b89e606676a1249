create or replace function patchdiff._recorded_attempt(
    target_file_id uuid,
    pdcp_log_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return (
        select jsonb_build_object(
            'status', l.status,
            'pdcp_log_id', l.pdcp_log_id,
            'before_hash', l.before_hash,
            'after_version', l.after_version,
            'after_hash', l.after_hash,
            'failure_reason', l.failure_reason,
            'failure_detail', l.failure_detail,
            'failed_change_id', l.failed_change_id,
            'diagnostic', l.diagnostic_json,
            'changes', patchdiff._ledger_facts(l.target_file_id, l.pdcp_log_id),
            'observation', patchdiff._attempt_observation(l.target_file_id, l.pdcp_log_id)
        )
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _recorded_attempt.target_file_id
            and l.pdcp_log_id = _recorded_attempt.pdcp_log_id
    );
end
$function$;
comment on function patchdiff._recorded_attempt(uuid, uuid) is
'The recorded outcome of one attempt, with the facts of its changes: what a key recovery answers.';
revoke all on function patchdiff._recorded_attempt(uuid, uuid) from public;
