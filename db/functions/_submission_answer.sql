create or replace function patchdiff._submission_answer(
    target_file_id text,
    attempt jsonb,
    target jsonb,
    deduplicated boolean,
    client_request_id text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_accepted constant boolean := attempt ->> 'status' = 'accepted';
    v_diagnostic constant jsonb := attempt -> 'diagnostic';
    v_warnings constant jsonb := case when v_accepted then coalesce(v_diagnostic -> 'warnings', '[]') end;
    v_outcome jsonb;
begin
    if v_accepted then
        v_outcome := jsonb_build_object(
            'version', attempt -> 'after_version',
            'manifest_entries_added', jsonb_array_length(attempt -> 'changes'),
            'warnings', (
                select coalesce(
                    jsonb_agg((w.warning ->> 'code') || ': ' || (w.warning ->> 'detail') order by w.position), '[]'
                )
                from jsonb_array_elements(v_warnings) with ordinality as w (warning, position)
            ),
            'warning_details', v_warnings,
            'warning_count', coalesce(v_diagnostic -> 'warning_count', '0'),
            'warnings_truncated', coalesce(v_diagnostic -> 'warnings_truncated', 'false'),
            'evidence', jsonb_build_object('changes', attempt -> 'changes')
        );
    else
        v_outcome := jsonb_build_object(
            'failure_reason', attempt -> 'failure_reason',
            'failure_detail', attempt -> 'failure_detail',
            'failed_change_id', attempt -> 'failed_change_id',
            'diagnostic', v_diagnostic
        );
    end if;
    return v_outcome || jsonb_build_object(
        'status', attempt -> 'status',
        'target_file_id', patchdiff._echoed(_submission_answer.target_file_id),
        'before_hash', attempt -> 'before_hash',
        'after_hash', attempt -> 'after_hash',
        'current_version', target -> 'version',
        'current_hash', target -> 'current_hash',
        'pdcp_log_id', attempt -> 'pdcp_log_id',
        'validity', jsonb_build_object(
            'protocol_valid', v_accepted or v_diagnostic ->> 'validation_stage' <> 'protocol_validation',
            'transaction_valid', v_accepted,
            'task_correct', 'not_evaluated',
            'semantic', 'not_evaluated'
        ),
        'deduplicated', _submission_answer.deduplicated,
        'client_request_id', patchdiff._echoed(_submission_answer.client_request_id)
    );
end
$function$;
comment on function patchdiff._submission_answer(text, jsonb, jsonb, boolean, text) is
'The answer to a submission from SQL, with the tool''s fields but no text contexts. attempt is the
recorded outcome, as patchdiff._recorded_attempt answers it; target is the target now, {version,
current_hash}, or null when there is none.';
revoke all on function patchdiff._submission_answer(text, jsonb, jsonb, boolean, text) from public;
