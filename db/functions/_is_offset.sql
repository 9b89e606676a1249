create or replace function patchdiff._is_offset(
    value jsonb
) returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_typeof(_is_offset.value) = 'number'
        and _is_offset.value::text ~ '^[0-9]+$'
        and _is_offset.value::numeric <= 9223372036854775807;
end
$function$;
comment on function patchdiff._is_offset(jsonb) is
'Whether a JSON value is an integer from 0 to 2^63-1 in integer notation; null for null.';
revoke all on function patchdiff._is_offset(jsonb) from public;
