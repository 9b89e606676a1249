-- Only hashes of the long texts enter, so that a chain over large records stays cheap to verify. The time enters
-- as seconds since the epoch: its text form would depend on the session's time zone.
create or replace function patchdiff._log_row_hash(
    log_row patchdiff.append_only_pdcp_logs,
    changes jsonb
) returns text
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return encode(sha256(convert_to((jsonb_build_array(
        log_row.previous_row_hash,
        log_row.target_file_id,
        log_row.log_sequence,
        log_row.pdcp_log_id,
        log_row.status,
        log_row.protocol_version,
        log_row.runtime_version,
        log_row.editing_cycle_id,
        log_row.before_version,
        log_row.before_hash,
        log_row.after_version,
        log_row.after_hash,
        log_row.failure_reason,
        log_row.failure_detail,
        log_row.failed_change_id,
        log_row.parent_pdcp_log_id,
        log_row.regeneration_attempt,
        log_row.source,
        log_row.client_request_id,
        log_row.request_fingerprint,
        log_row.pdcp_content_hash,
        log_row.diagnostic_json,
        extract(epoch from log_row.created_at)::text,
        changes
    ) || case
        when log_row.observation_id is null then '[]' else jsonb_build_array(log_row.observation_id)
    end)::text, 'UTF8')), 'hex');
end
$function$;
comment on function patchdiff._log_row_hash(patchdiff.append_only_pdcp_logs, jsonb) is
'Lowercase hex SHA-256 over an attempt''s row, its predecessor''s hash and the facts of its changes
(null for a rejected one): one link of the target''s chain.';
revoke all on function patchdiff._log_row_hash(patchdiff.append_only_pdcp_logs, jsonb) from public;
