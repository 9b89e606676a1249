-- Lock order: the target's row first, always; everything else of a submission comes after it.
create or replace function patchdiff.open_attempt(
    target_file_id text,
    protocol_version text,
    pdcp_content_hash text,
    request jsonb,
    proposal_failure jsonb default null,
    out outcome jsonb,
    out current_content text
) returns record
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target_id uuid := patchdiff._target_id(open_attempt.target_file_id);
    v_version bigint;
    v_hash text;
    v_code_points bigint;
begin
    select t.version, t.current_hash, t.current_content, t.content_code_points
    into v_version, v_hash, open_attempt.current_content, v_code_points
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_target_id
    for update;
    if v_version is null then
        outcome := patchdiff._no_target_outcome(v_target_id, request, proposal_failure);
        return;
    end if;
    perform patchdiff._lock_receipts(v_target_id, request);
    outcome := patchdiff._opened_outcome(
        patchdiff._judge_request(
            v_target_id,
            v_version,
            v_hash,
            patchdiff._sha256_hex(open_attempt.current_content) <> v_hash,
            patchdiff._request_envelope(protocol_version, pdcp_content_hash, request),
            request,
            proposal_failure
        ),
        v_version, v_hash, v_code_points
    );
    if outcome -> 'failure' ->> 'code' = 'request_key_conflict' then
        outcome := outcome || jsonb_build_object('existing_content', (
            select l.pdcp_content
            from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = v_target_id
                and l.pdcp_log_id = (outcome -> 'failure' ->> 'existing_pdcp_log_id')::uuid
        ));
    end if;
    if outcome ->> 'outcome' = 'open' and request ? 'observation' then
        outcome := outcome || jsonb_build_object(
            'receipts', to_jsonb(patchdiff._receipts(v_target_id, request)),
            'file', (
                select jsonb_build_object('filename', t.filename, 'target_type', t.target_type)
                from patchdiff.cloud_target_files as t
                where t.target_file_id = v_target_id
            )
        );
    elsif outcome ->> 'outcome' <> 'open' then
        open_attempt.current_content := left(open_attempt.current_content, 256);
    end if;
end
$function$;
comment on function patchdiff.open_attempt(text, text, text, jsonb, jsonb) is
'Begins a submission: locks the target until the transaction ends, and judges everything of the request
that needs no evaluation. request holds client_request_id, expected_target_version,
expected_current_hash, parent_pdcp_log_id, attempt and source as the caller sent them, and for an observed
submission observation: the engine, and observation_id, or observation_bundle_id and observation_ids; proposal_failure
is what decoding the proposal found wrong, or null. Answers an outcome and a text: open, with target
{version, current_hash, code_points} and the whole canonical text to evaluate against, for an observed submission
also receipts (locked, in its order) and file (filename and target_type); refused, with
failure {failure_reason, code, validation_stage, failure_detail} to be recorded by
patchdiff.reject_attempt, and the first 256 code points of the text (both target and text null when
there is no such target, with missing invalid_target_id or target_not_found; with
existing_content, the record that a conflicting key already names); recovered, with recorded
(the outcome of the same request under the same key) and that same beginning.';
revoke all on function patchdiff.open_attempt(text, text, text, jsonb, jsonb) from public;
grant execute on function patchdiff.open_attempt(text, text, text, jsonb, jsonb) to patchdiff_editor;
