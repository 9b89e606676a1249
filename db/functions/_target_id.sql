create or replace function patchdiff._target_id(
    target_file_id text
) returns uuid
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if _target_id.target_file_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        return _target_id.target_file_id::uuid;
    end if;
    return null;
end
$function$;
comment on function patchdiff._target_id(text) is
'The UUID that a canonical lowercase hyphenated text names; null for null and for every other form.';
revoke all on function patchdiff._target_id(text) from public;
