-- patchdiff.open_attempt has locked the target for this transaction, so that the writers cannot find it changed.
create or replace function patchdiff._conclude_submission(
    target_file_id text,
    protocol_version text,
    pdcp_content text,
    request jsonb,
    opened jsonb,
    evaluation jsonb
) returns jsonb
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target jsonb := nullif(opened -> 'target', 'null');
    v_failure constant jsonb := coalesce(opened -> 'failure', evaluation -> 'failure');
    v_diagnostic constant jsonb := patchdiff._rejection_diagnostic(
        _conclude_submission.protocol_version, v_failure
    );
    v_attempt jsonb;
    v_recorded jsonb;
begin
    if v_target is null then
        v_attempt := v_failure
            || jsonb_build_object('status', 'rejected', 'diagnostic', v_diagnostic);
    elsif opened ->> 'outcome' = 'recovered' then
        v_attempt := opened -> 'recorded';
    else
        if v_failure is not null then
            v_recorded := patchdiff.reject_attempt(
                target_file_id => _conclude_submission.target_file_id,
                base_version => (v_target ->> 'version')::bigint,
                base_hash => v_target ->> 'current_hash',
                protocol_version => _conclude_submission.protocol_version,
                pdcp_content => _conclude_submission.pdcp_content,
                request => _conclude_submission.request,
                failure => v_failure,
                diagnostic => v_diagnostic
            );
        else
            v_recorded := patchdiff.accept_attempt(
                target_file_id => _conclude_submission.target_file_id,
                base_version => (v_target ->> 'version')::bigint,
                base_hash => v_target ->> 'current_hash',
                protocol_version => _conclude_submission.protocol_version,
                pdcp_content => _conclude_submission.pdcp_content,
                request => _conclude_submission.request,
                span_starts => array(
                    select s.span_start::bigint
                    from jsonb_array_elements_text(evaluation -> 'span_starts')
                        with ordinality as s (span_start, position)
                    order by s.position
                ),
                byte_starts => array(
                    select s.byte_start::bigint
                    from jsonb_array_elements_text(evaluation -> 'byte_starts')
                        with ordinality as s (byte_start, position)
                    order by s.position
                ),
                after_hash => evaluation ->> 'after_hash'
            );
        end if;
        if v_recorded ->> 'outcome' not in ('accepted', 'rejected') then
            raise exception 'an attempt was not recorded on a target that is locked for it: %', v_recorded
                using errcode = 'internal_error',
                hint = 'This is a fault of PatchDIFF. Report the message; nothing was written.';
        end if;
        v_attempt := patchdiff._recorded_attempt(
            patchdiff._target_id(_conclude_submission.target_file_id), (v_recorded ->> 'pdcp_log_id')::uuid
        );
        if v_recorded ->> 'outcome' = 'accepted' then
            v_target := jsonb_build_object(
                'version', v_recorded -> 'after_version', 'current_hash', v_recorded -> 'after_hash'
            );
        end if;
    end if;
    return patchdiff._submission_answer(
        _conclude_submission.target_file_id, v_attempt, v_target, opened ->> 'outcome' = 'recovered',
        request ->> 'client_request_id'
    );
end
$function$;
comment on function patchdiff._conclude_submission(text, text, text, jsonb, jsonb, jsonb) is
'Ends a submission from SQL: records what patchdiff.open_attempt refused or what evaluation found, and
answers with the tool''s fields. opened is the outcome of patchdiff.open_attempt in this transaction;
evaluation holds failure, or span_starts, byte_starts and after_hash; it is null when nothing was open to
be evaluated. Raises internal_error when the record could not be made.';
revoke all on function patchdiff._conclude_submission(text, text, text, jsonb, jsonb, jsonb) from public;
