create or replace function patchdiff._echoed(
    value text
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return case when length(_echoed.value) <= 1024 then _echoed.value end;
end
$function$;
comment on function patchdiff._echoed(text) is
'A caller''s text as an answer repeats it: whole up to 1,024 code points, otherwise null, never cut.';
revoke all on function patchdiff._echoed(text) from public;
