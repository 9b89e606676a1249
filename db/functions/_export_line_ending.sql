create or replace function patchdiff._export_line_ending(
    format text,
    recorded_style text
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return case
        when _export_line_ending.format in ('original_text', 'canonical_lf') then 'lf'
        when _export_line_ending.format = 'crlf' then 'crlf'
        when _export_line_ending.format = 'original_eol' then
            case _export_line_ending.recorded_style
                when 'none' then 'lf'
                when 'lf' then 'lf'
                when 'crlf' then 'crlf'
                when 'cr' then 'cr'
            end
    end;
end
$function$;
comment on function patchdiff._export_line_ending(text, text) is
'The line ending that an export format writes, lf, crlf or cr, given the style recorded at the upload; null when
original_eol has no uniform style to go by.';
revoke all on function patchdiff._export_line_ending(text, text) from public;
