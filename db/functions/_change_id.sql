create or replace function patchdiff._change_id(
    change jsonb,
    change_index bigint
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if
        jsonb_typeof(change -> 'change_id') = 'string'
        and (change ->> 'change_id') collate "C" ~ '^[A-Za-z0-9_.-]{1,64}$'
    then
        return change ->> 'change_id';
    end if;
    return 'chg_' || lpad(change_index::text, greatest(3, length(change_index::text)), '0');
end
$function$;
comment on function patchdiff._change_id(jsonb, bigint) is
'The name of the change at a one-based index: its own where that is usable, otherwise chg_001, chg_002
and so on.';
revoke all on function patchdiff._change_id(jsonb, bigint) from public;
