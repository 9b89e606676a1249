create or replace function patchdiff._log_intent_failures(
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
    select jsonb_agg(
        patchdiff._check_failure(
            'log_intents', 'intent_differs', 'intent and intent_truncated are not what the record says.',
            f.log_sequence
        )
        order by f.log_sequence
    )
    into v_failures
    from (
        select l.log_sequence
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _log_intent_failures.target_file_id
            and case
                -- nobody has read the record yet
                when l.intent_truncated is null then l.intent is not null
                else (
                    select
                        l.intent is distinct from left(r.transaction_intent, 256)
                        or l.intent_truncated <> coalesce(length(r.transaction_intent) > 256, false)
                    from patchdiff._record_intents(l.pdcp_content) as r
                )
            end
        order by l.log_sequence
        limit 100
    ) as f;
    return coalesce(v_failures, '[]');
exception
    when others then
        return jsonb_build_array(patchdiff._check_failure('log_intents', 'check_failed', sqlerrm));
end
$function$;
comment on function patchdiff._log_intent_failures(uuid) is
'Check of patchdiff.verify_target: the intents in the log are those of the records; they are not in the hash chain.
The first 100 attempts that fail, in order.';
revoke all on function patchdiff._log_intent_failures(uuid) from public;
