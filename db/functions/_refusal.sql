create or replace function patchdiff._refusal(
    status text,
    code text,
    failure_detail text
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_strip_nulls(jsonb_build_object(
        'status', _refusal.status,
        'code', _refusal.code,
        'failure_detail', _refusal.failure_detail
    ));
end
$function$;
comment on function patchdiff._refusal(text, text, text) is
'Payload of a refusal: status, failure_detail, and code unless that is null.';
revoke all on function patchdiff._refusal(text, text, text) from public;
