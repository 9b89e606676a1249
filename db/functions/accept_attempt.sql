create or replace function patchdiff.accept_attempt(
    target_file_id text,
    base_version bigint,
    base_hash text,
    protocol_version text,
    pdcp_content text,
    request jsonb,
    span_starts bigint[],
    byte_starts bigint[],
    after_hash text,
    warnings jsonb default null
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
    v_intents record;
    v_applied record;
    v_receipts patchdiff.target_scope_observations[];
begin
    perform patchdiff._check_attempt(
        accept_attempt.protocol_version, accept_attempt.pdcp_content, request
    );
    perform patchdiff._check_warnings(warnings);
    select
        t.target_file_id, t.version, t.current_hash, t.current_content, t.active_editing_cycle_id,
        t.log_head_sequence, t.log_head_hash, t.content_code_points = t.content_utf8_bytes as ascii
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(accept_attempt.target_file_id)
    for update;
    if v_target.target_file_id is null then
        return '{"outcome": "no_target"}';
    end if;
    if (v_target.version = base_version and v_target.current_hash = base_hash) is not true then
        return '{"outcome": "stale_base"}';
    end if;

    perform patchdiff._lock_receipts(v_target.target_file_id, request);
    v_row.pdcp_content_hash := patchdiff._sha256_hex(accept_attempt.pdcp_content);
    v_row.request_envelope := patchdiff._request_envelope(
        accept_attempt.protocol_version, v_row.pdcp_content_hash, request
    );
    -- changes of a stored text that does not have its hash cannot lead to the announced one, so it is not
    -- hashed here; a whole replacement shows in its fact
    v_verdict := patchdiff._judge_request(
        v_target.target_file_id, v_target.version, v_target.current_hash, false,
        v_row.request_envelope, request, null
    );
    if v_verdict is not null then
        return v_verdict;
    end if;

    v_receipts := patchdiff._receipts(v_target.target_file_id, request);
    v_applied := patchdiff._apply_record(
        accept_attempt.protocol_version, accept_attempt.pdcp_content,
        v_target.current_content, v_target.ascii, span_starts, coalesce(byte_starts, '{}'), v_receipts
    );
    if v_applied.misfit is not null then
        return jsonb_build_object('outcome', 'misfit', 'failure_detail', v_applied.misfit);
    end if;
    v_row.after_hash := encode(sha256(v_applied.result), 'hex');
    if
        v_row.after_hash is distinct from accept_attempt.after_hash
        or (
            v_applied.facts -> 0 ->> 'operation' = 'replace_all'
            and v_applied.facts -> 0 ->> 'matched_sha256' <> v_target.current_hash
        )
    then
        return jsonb_build_object(
            'outcome', 'misfit', 'failure_detail', 'the text or the result does not have its hash'
        );
    end if;

    v_row.target_file_id := v_target.target_file_id;
    v_row.status := 'accepted';
    v_row.protocol_version := accept_attempt.protocol_version;
    v_row.runtime_version := patchdiff._runtime_version(
        accept_attempt.protocol_version, accept_attempt.pdcp_content
    );
    v_row.editing_cycle_id := v_target.active_editing_cycle_id;
    v_row.observation_id := patchdiff._target_id(request -> 'observation' ->> 'observation_id');
    v_row.before_version := v_target.version;
    v_row.before_hash := v_target.current_hash;
    v_row.after_version := v_target.version + 1;
    v_row.client_request_id := request ->> 'client_request_id';
    v_row.pdcp_content := accept_attempt.pdcp_content;
    v_row.diagnostic_json := warnings;
    v_intents := patchdiff._record_intents(accept_attempt.pdcp_content);
    v_row := patchdiff._append_log_row(
        v_row, v_target.log_head_sequence, v_target.log_head_hash, request,
        v_intents.transaction_intent, v_applied.facts
    );
    perform patchdiff._append_ledger_rows(
        v_row, v_applied.facts, v_applied.risks, v_intents.transaction_intent, v_intents.rationales
    );
    if v_receipts is not null then
        perform patchdiff._consume_receipts(
            v_row.target_file_id, v_receipts, v_row.pdcp_log_id,
            case when v_row.observation_id is null then 'batch' else 'single' end
        );
    end if;
    update patchdiff.cloud_target_files as t
    set
        current_content = convert_from(v_applied.result, 'UTF8'),
        current_hash = v_row.after_hash,
        version = v_row.after_version,
        content_changed_at = v_row.created_at,
        log_head_sequence = v_row.log_sequence,
        log_head_hash = v_row.row_hash
    where t.target_file_id = v_row.target_file_id;
    return jsonb_build_object(
        'outcome', 'accepted',
        'pdcp_log_id', v_row.pdcp_log_id,
        'after_version', v_row.after_version,
        'after_hash', v_row.after_hash,
        'changes', v_applied.facts,
        'observation', case
            when v_receipts is null then '{}'
            else patchdiff._attempt_observation(v_row.target_file_id, v_row.pdcp_log_id)
        end
    );
end
$function$;
comment on function patchdiff.accept_attempt(
    text, bigint, text, text, text, jsonb, bigint[], bigint[], text, jsonb
) is
'Records an accepted attempt: the new text, the log row and one ledger row a change, together or not at
all. The function trusts nobody: it locks the target, judges the request again, takes matched and
replacing text from the record itself, checks that each change finds its text at its place (span_starts
in code points, byte_starts in UTF-8 bytes, each in the buffer that the change sees), splices, and
compares the result''s SHA-256 with after_hash. The changes of an observed submission must lie inside the scopes of
the receipts that request.observation names, which are used up. warnings is what the row keeps as diagnostic, or null.
Answers an outcome: accepted, with pdcp_log_id, after_version, after_hash and changes (the facts); or,
having written nothing, stale_base when the target is no longer at base_version and base_hash, misfit
when record, places and hash do not fit the text, no_target, recovered or refused when the request
deserves that instead (see patchdiff.open_attempt). Raises PD020, PD021 or PD022 for a record, offsets or other arguments that
are malformed.';
revoke all on function patchdiff.accept_attempt(
    text, bigint, text, text, text, jsonb, bigint[], bigint[], text, jsonb
) from public;
grant execute on function patchdiff.accept_attempt(
    text, bigint, text, text, text, jsonb, bigint[], bigint[], text, jsonb
) to patchdiff_editor;
