create or replace function patchdiff._canonical_text(
    source text
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if strpos(_canonical_text.source, E'\r') = 0 then
        return _canonical_text.source;
    end if;
    return replace(replace(_canonical_text.source, E'\r\n', E'\n'), E'\r', E'\n');
end
$function$;
comment on function patchdiff._canonical_text(text) is
'The text with every CRLF pair and every lone CR as one LF; null for null.';
revoke all on function patchdiff._canonical_text(text) from public;
