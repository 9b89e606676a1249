create or replace function patchdiff._usable_attempt(
    request jsonb
) returns bigint
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_attempt jsonb := request -> 'attempt';
begin
    if jsonb_typeof(v_attempt) = 'number' and v_attempt #>> '{}' ~ '^[0-9]+$' then
        if (v_attempt #>> '{}')::numeric between 1 and 9223372036854775807 then
            return (v_attempt #>> '{}')::bigint;
        end if;
    end if;
    return null;
end
$function$;
comment on function patchdiff._usable_attempt(jsonb) is
'The one-based attempt number of a request; null when it has none, or one that is no such number.';
revoke all on function patchdiff._usable_attempt(jsonb) from public;
