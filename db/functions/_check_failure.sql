create or replace function patchdiff._check_failure(
    check_name text,
    code text,
    failure_detail text,
    log_sequence bigint default null
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_strip_nulls(jsonb_build_object(
        'check', _check_failure.check_name,
        'code', _check_failure.code,
        'failure_detail', _check_failure.failure_detail,
        'log_sequence', _check_failure.log_sequence
    ));
end
$function$;
comment on function patchdiff._check_failure(text, text, text, bigint) is
'One failure of patchdiff.verify_target: which check, a code, a sentence, and the attempt where there is one.';
revoke all on function patchdiff._check_failure(text, text, text, bigint) from public;
