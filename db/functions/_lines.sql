create or replace function patchdiff._lines(
    content text
) returns text[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return case
        when _lines.content = '' then array['']
        else string_to_array(_lines.content, E'\n')
    end;
end
$function$;
comment on function patchdiff._lines(text) is
'The lines of a text without their LF: a line ends at LF only, a trailing LF leaves an empty last line, and an
empty text is one empty line. The one place that says what a line is.';
revoke all on function patchdiff._lines(text) from public;
