create or replace function patchdiff._with_log_intents(
    target_file_id uuid,
    entries jsonb
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return (
        select jsonb_agg(
            e.entry || case
                when a.pdcp_content is null then '{}'
                else jsonb_build_object(
                    'intent', left(r.transaction_intent, 256),
                    'intent_truncated', coalesce(length(r.transaction_intent) > 256, false)
                )
            end
            order by e.position
        )
        from jsonb_array_elements(_with_log_intents.entries) with ordinality as e (entry, position)
        -- in order, and one at a time: see _log_answer
        left join lateral (
            select l.pdcp_content
            from patchdiff.append_only_pdcp_logs as l
            where
                e.entry -> 'intent_truncated' = 'null'
                and l.target_file_id = _with_log_intents.target_file_id
                and l.log_sequence between (e.entry ->> 'log_sequence')::bigint
                and (e.entry ->> 'log_sequence')::bigint
            order by l.log_sequence
            limit 1
        ) as a on true
        cross join lateral patchdiff._record_intents(a.pdcp_content) as r
    );
end
$function$;
comment on function patchdiff._with_log_intents(uuid, jsonb) is
'A page''s log entries, with intent and intent_truncated read from the record in those that lack them
(intent_truncated null); no other record is opened. Contract: patchdiff_get_pdcp_log.';
revoke all on function patchdiff._with_log_intents(uuid, jsonb) from public;
