create or replace function patchdiff._log_entries(
    target_file_id uuid,
    log_sequences bigint[],
    include_content boolean
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_within boolean[];
    v_entries jsonb;
begin
    if _log_entries.include_content then
        v_within := patchdiff._within_page_budget(array(
            select octet_length(l.pdcp_content)::bigint
            from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = _log_entries.target_file_id
                and l.log_sequence = any (_log_entries.log_sequences)
            order by l.log_sequence desc
        ));
    end if;
    select jsonb_agg(
        jsonb_build_object(
            'log_sequence', l.log_sequence,
            'pdcp_log_id', l.pdcp_log_id,
            'status', l.status,
            'protocol_version', l.protocol_version,
            'runtime_version', l.runtime_version,
            'before_version', l.before_version,
            'after_version', l.after_version,
            'before_hash', l.before_hash,
            'after_hash', l.after_hash,
            'failure_reason', l.failure_reason,
            'failure_detail', l.failure_detail,
            'failed_change_id', l.failed_change_id,
            'parent_pdcp_log_id', l.parent_pdcp_log_id,
            'regeneration_attempt', l.regeneration_attempt,
            'attempt', l.regeneration_attempt,
            'client_request_id', l.client_request_id,
            'request_fingerprint', l.request_fingerprint,
            'pdcp_content_hash', l.pdcp_content_hash,
            'diagnostic', l.diagnostic_json,
            'intent', l.intent,
            'intent_truncated', l.intent_truncated,
            'created_at', patchdiff._utc_timestamp(l.created_at)
        ) || case p.within
            when true then jsonb_build_object('pdcp_content', l.pdcp_content)
            when false then '{"pdcp_content": null, "pdcp_content_omitted": "page_byte_budget"}'
            else '{}'
        end
        order by p.log_sequence desc
    )
    into v_entries
    from unnest(_log_entries.log_sequences, v_within) as p (log_sequence, within)
    inner join patchdiff.append_only_pdcp_logs as l
        on l.target_file_id = _log_entries.target_file_id and p.log_sequence = l.log_sequence;
    return coalesce(v_entries, '[]');
end
$function$;
comment on function patchdiff._log_entries(uuid, bigint[], boolean) is
'The log''s entries for a target''s log_sequences, given newest first. Records are opened only with
include_content, and then within the page''s byte budget. Contract: patchdiff_get_pdcp_log.';
revoke all on function patchdiff._log_entries(uuid, bigint[], boolean) from public;
