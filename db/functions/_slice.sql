-- On ASCII text a byte is a code point, and bytes are cut out without reading what comes before them.
create or replace function patchdiff._slice(
    content text,
    ascii boolean,
    start bigint,
    length bigint
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    -- a text value is shorter than 2^30 bytes, so nothing is lost
    v_first constant integer := least(_slice.start, 1073741823) + 1;
    v_length constant integer := least(_slice.length, 1073741823);
begin
    if _slice.ascii then
        return convert_from(substr(convert_to(_slice.content, 'UTF8'), v_first, v_length), 'UTF8');
    end if;
    return substr(_slice.content, v_first, v_length);
end
$function$;
comment on function patchdiff._slice(text, boolean, bigint, bigint) is
'At most length code points of content from the zero-based code point start on; ascii tells that content is
ASCII throughout. Empty past the end.';
revoke all on function patchdiff._slice(text, boolean, bigint, bigint) from public;
