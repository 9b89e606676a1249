create or replace function patchdiff._rejection_diagnostic(
    protocol_version text,
    failure jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_strip_nulls(jsonb_build_object('code', failure -> 'code'))
        || (failure - array['failure_reason', 'failure_detail', 'failed_change_id', 'validation_stage', 'code'])
        || jsonb_build_object(
            'format', protocol_version,
            'retryable', failure ->> 'failure_reason' in (
                'span_out_of_bounds', 'span_expected_text_mismatch',
                'target_version_mismatch', 'target_hash_mismatch', 'target_diverged'
            ),
            'requires_new_submission', true,
            'validation_stage', failure ->> 'validation_stage'
        );
end
$function$;
comment on function patchdiff._rejection_diagnostic(text, jsonb) is
'The diagnostic that is stored with the rejection of a submission from SQL: format, code where there is
one, what the failure itself tells, retryable, requires_new_submission and validation_stage.';
revoke all on function patchdiff._rejection_diagnostic(text, jsonb) from public;
