create or replace function patchdiff._request_failure(
    failure_reason text,
    code text,
    validation_stage text,
    failure_detail text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_build_object(
        'failure_reason', failure_reason,
        'code', code,
        'validation_stage', validation_stage,
        'failure_detail', failure_detail
    );
end
$function$;
comment on function patchdiff._request_failure(text, text, text, text) is
'The failure object of a refused submission: reason, code where one is stable, stage and a sentence.';
revoke all on function patchdiff._request_failure(text, text, text, text) from public;
