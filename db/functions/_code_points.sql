create or replace function patchdiff._code_points(
    utf8 bytea
) returns bigint
language plpgsql
immutable
strict
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return length(utf8, 'UTF8');
exception
    when character_not_in_repertoire then
        return -1;
end
$function$;
comment on function patchdiff._code_points(bytea) is
'Length of UTF-8 bytes in code points, -1 when they are not whole characters.';
revoke all on function patchdiff._code_points(bytea) from public;
