create or replace function patchdiff.preview_attempt(
    target_file_id text,
    request jsonb,
    proposal_failure jsonb default null,
    out outcome jsonb,
    out current_content text
) returns record
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target_id uuid := patchdiff._target_id(preview_attempt.target_file_id);
    v_guards jsonb := jsonb_build_object(
        'expected_target_version', request -> 'expected_target_version',
        'expected_current_hash', request -> 'expected_current_hash',
        'source', 'model_response'
    );
    v_version bigint;
    v_hash text;
    v_code_points bigint;
begin
    select t.version, t.current_hash, t.current_content, t.content_code_points
    into v_version, v_hash, preview_attempt.current_content, v_code_points
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_target_id;
    if v_version is null then
        outcome := patchdiff._no_target_outcome(v_target_id, v_guards, proposal_failure);
        return;
    end if;
    outcome := patchdiff._opened_outcome(
        patchdiff._judge_request(
            v_target_id,
            v_version,
            v_hash,
            patchdiff._sha256_hex(preview_attempt.current_content) <> v_hash,
            null,
            v_guards,
            proposal_failure
        ),
        v_version, v_hash, v_code_points
    );
    if outcome ->> 'outcome' <> 'open' then
        preview_attempt.current_content := left(preview_attempt.current_content, 256);
    end if;
end
$function$;
comment on function patchdiff.preview_attempt(text, jsonb, jsonb) is
'Judges a submission as patchdiff.open_attempt does, without a lock and from one observation of the
target. Of request only expected_target_version and expected_current_hash count: a preview has neither
key nor lineage, so it never answers a recorded outcome. proposal_failure is what decoding the proposal
found wrong, or null. Answers an outcome and a text: open, with target {version, current_hash,
code_points} and the whole canonical text to evaluate against; or refused, with failure {failure_reason,
code, validation_stage, failure_detail} and the first 256 code points of the text (both target and text
null when there is no such target, with missing invalid_target_id or target_not_found).';
revoke all on function patchdiff.preview_attempt(text, jsonb, jsonb) from public;
grant execute on function patchdiff.preview_attempt(text, jsonb, jsonb) to patchdiff_editor, patchdiff_reader;
