create or replace function patchdiff.reject_attempt(
    target_file_id text,
    base_version bigint,
    base_hash text,
    protocol_version text,
    pdcp_content text,
    request jsonb,
    failure jsonb,
    diagnostic jsonb
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target record;
    v_row patchdiff.append_only_pdcp_logs;
    v_verdict jsonb;
begin
    perform patchdiff._check_attempt(
        reject_attempt.protocol_version, reject_attempt.pdcp_content, request
    );
    perform patchdiff._check_rejection(failure, reject_attempt.diagnostic);
    select
        t.target_file_id, t.version, t.current_hash, t.active_editing_cycle_id,
        t.log_head_sequence, t.log_head_hash,
        patchdiff._sha256_hex(t.current_content) <> t.current_hash as diverged
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(reject_attempt.target_file_id)
    for update;
    if v_target.target_file_id is null then
        return '{"outcome": "no_target"}';
    end if;
    if (v_target.version = base_version and v_target.current_hash = base_hash) is not true then
        return '{"outcome": "stale_base"}';
    end if;

    perform patchdiff._lock_receipts(v_target.target_file_id, request);
    if
        (failure ->> 'failure_reason' = 'target_encoding_invalid')
        <> (reject_attempt.protocol_version = 'patchdiff-invalid-input/1')
    then
        return '{"outcome": "unfounded"}';
    end if;

    v_row.target_file_id := v_target.target_file_id;
    v_row.status := 'rejected';
    v_row.protocol_version := reject_attempt.protocol_version;
    v_row.runtime_version := patchdiff._runtime_version(
        reject_attempt.protocol_version, reject_attempt.pdcp_content
    );
    v_row.editing_cycle_id := v_target.active_editing_cycle_id;
    v_row.before_version := v_target.version;
    v_row.before_hash := v_target.current_hash;
    v_row.observation_id := patchdiff._target_id(request -> 'observation' ->> 'observation_id');
    v_row.failure_reason := failure ->> 'failure_reason';
    v_row.failure_detail := failure ->> 'failure_detail';
    v_row.failed_change_id := failure ->> 'failed_change_id';
    v_row.pdcp_content := reject_attempt.pdcp_content;
    v_row.pdcp_content_hash := patchdiff._sha256_hex(reject_attempt.pdcp_content);
    v_row.request_envelope := patchdiff._request_envelope(
        reject_attempt.protocol_version, v_row.pdcp_content_hash, request
    );
    v_row.diagnostic_json := reject_attempt.diagnostic;
    v_verdict := patchdiff._judge_request(
        v_target.target_file_id, v_target.version, v_target.current_hash, v_target.diverged,
        v_row.request_envelope, request,
        case
            when
                v_row.failure_reason in ('target_encoding_invalid', 'protocol_invalid')
                or (
                    v_row.failure_reason = 'context_invalid'
                    and failure ->> 'code' = 'OBSERVATION_REQUIRED'
                    and not request ? 'observation'
                )
                then failure
        end
    );
    if patchdiff._verdict_admits(v_verdict, failure, request ? 'observation') is not true then
        return coalesce(v_verdict, jsonb_build_object('outcome', 'unfounded'));
    end if;
    if
        v_row.failure_reason <> 'target_encoding_invalid'
        and coalesce(failure ->> 'code', '') not in ('request_key_conflict', 'invalid_client_request_id')
    then
        v_row.client_request_id := request ->> 'client_request_id';
    end if;
    v_row := patchdiff._append_log_row(
        v_row, v_target.log_head_sequence, v_target.log_head_hash, request,
        (patchdiff._record_intents(reject_attempt.pdcp_content)).transaction_intent, null
    );
    update patchdiff.cloud_target_files as t
    set log_head_sequence = v_row.log_sequence, log_head_hash = v_row.row_hash
    where t.target_file_id = v_row.target_file_id;
    return jsonb_build_object(
        'outcome', 'rejected', 'pdcp_log_id', v_row.pdcp_log_id, 'log_sequence', v_row.log_sequence
    );
end
$function$;
comment on function patchdiff.reject_attempt(text, bigint, text, text, text, jsonb, jsonb, jsonb) is
'Records a rejected attempt: one row, and nothing else of the target changes. base_version and base_hash
name the state the verdict was reached on; the function locks the target and judges the request again.
failure holds failure_reason, failure_detail, code and failed_change_id; diagnostic is stored as it is.
Answers an outcome: rejected, with pdcp_log_id and log_sequence; or, having written nothing, stale_base
when the target has moved, no_target, recovered or refused when the request deserves that instead (see
patchdiff.open_attempt), unfounded when the failure is none that can be recorded.';
revoke all on function patchdiff.reject_attempt(text, bigint, text, text, text, jsonb, jsonb, jsonb) from public;
grant execute on function patchdiff.reject_attempt(text, bigint, text, text, text, jsonb, jsonb, jsonb)
to patchdiff_editor;
