-- In the text of a jsonb value a comma or colon followed by a space is a separator, unless it is inside a string.
create or replace function patchdiff._compact_json(
    value jsonb
) returns text
language plpgsql
immutable
strict
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if jsonb_typeof(_compact_json.value) not in ('object', 'array') then
        return _compact_json.value::text;
    end if;
    return regexp_replace(_compact_json.value::text, '("(?:[^"\\]|\\.)*")|([,:]) ', '\1\2', 'g');
end
$function$;
comment on function patchdiff._compact_json(jsonb) is
'The value as JSON text without blanks between its tokens and with literal characters: the form of a
stored record. Null for a null that is not JSON''s.';
revoke all on function patchdiff._compact_json(jsonb) from public;
