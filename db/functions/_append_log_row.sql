-- The caller holds the target's lock: the sequence number is drawn under it, so that within a target the
-- numbers are in commit order.
create or replace function patchdiff._append_log_row(
    log_row patchdiff.append_only_pdcp_logs,
    head_sequence bigint,
    head_hash text,
    request jsonb,
    transaction_intent text,
    changes jsonb
) returns patchdiff.append_only_pdcp_logs
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    log_row.log_sequence := greatest(nextval('patchdiff.log_sequence'), head_sequence + 1);
    log_row.pdcp_log_id := gen_random_uuid();
    log_row.created_at := clock_timestamp();
    log_row.parent_pdcp_log_id := patchdiff._usable_parent(log_row.target_file_id, request);
    log_row.regeneration_attempt := patchdiff._usable_attempt(request);
    log_row.source := case jsonb_typeof(coalesce(request -> 'source', '"model_response"'))
        when 'string' then coalesce(request ->> 'source', 'model_response')
    end;
    log_row.intent := left(transaction_intent, 256);
    log_row.intent_truncated := coalesce(length(transaction_intent) > 256, false);
    log_row.request_fingerprint := patchdiff._sha256_hex(log_row.request_envelope);
    log_row.previous_row_hash := head_hash;
    log_row.row_hash := patchdiff._log_row_hash(log_row, changes);
    insert into patchdiff.append_only_pdcp_logs select (log_row).*;
    return log_row;
end
$function$;
comment on function patchdiff._append_log_row(
    patchdiff.append_only_pdcp_logs, bigint, text, jsonb, text, jsonb
) is
'Completes an attempt''s row (identity, sequence, time, lineage, intent, fingerprint, chain) and inserts
it. head_sequence and head_hash are those of the target; changes are the facts of an accepted attempt,
null for a rejected one.';
revoke all on function patchdiff._append_log_row(
    patchdiff.append_only_pdcp_logs, bigint, text, jsonb, text, jsonb
) from public;
