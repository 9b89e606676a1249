create or replace function patchdiff._log_answer(
    target_file_id uuid,
    log_sequences bigint[],
    has_more boolean,
    include_content boolean
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_answer jsonb;
    v_lacks_intents boolean;
begin
    -- the whole answer from whole rows at once: jsonb within jsonb would be written twice
    select
        jsonb_build_object(
            'entries', coalesce(array_agg(e order by e.log_sequence desc), array[]::record[]),
            'has_more', _log_answer.has_more,
            'next_sequence', case when _log_answer.has_more then min(e.log_sequence) end
        ),
        bool_or(e.intent_truncated is null)
    into v_answer, v_lacks_intents
    -- in order, and one at a time: the primary key serves, however many rows a target is thought to have
    from unnest(_log_answer.log_sequences) as s (sequence)
    cross join lateral (
        select
            l.log_sequence,
            l.pdcp_log_id,
            l.status,
            l.protocol_version,
            l.runtime_version,
            l.before_version,
            l.after_version,
            l.before_hash,
            l.after_hash,
            l.failure_reason,
            l.failure_detail,
            l.failed_change_id,
            l.parent_pdcp_log_id,
            l.regeneration_attempt,
            l.regeneration_attempt as attempt,
            l.client_request_id,
            l.request_fingerprint,
            l.pdcp_content_hash,
            l.diagnostic_json as diagnostic,
            l.intent,
            l.intent_truncated,
            patchdiff._utc_timestamp(l.created_at) as created_at
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _log_answer.target_file_id
            and l.log_sequence between s.sequence and s.sequence
        order by l.log_sequence
        limit 1
    ) as e;
    if v_lacks_intents then
        v_answer := jsonb_set(v_answer, '{entries}', patchdiff._with_log_intents(
            _log_answer.target_file_id, v_answer -> 'entries'
        ));
    end if;
    if _log_answer.include_content then
        v_answer := jsonb_set(v_answer, '{entries}', patchdiff._with_contents(
            _log_answer.target_file_id, _log_answer.log_sequences, v_answer -> 'entries'
        ));
    end if;
    return v_answer;
end
$function$;
comment on function patchdiff._log_answer(uuid, bigint[], boolean, boolean) is
'The answer of the log for the page of a target''s log_sequences, given newest first. A record is opened only for
the intent of a row that lacks it (intent_truncated null), and returned only with include_content, within the
page''s byte budget. Contract: patchdiff_get_pdcp_log.';
revoke all on function patchdiff._log_answer(uuid, bigint[], boolean, boolean) from public;
