create or replace function patchdiff._line_range(
    content text,
    ascii boolean,
    start_line bigint,
    end_line bigint,
    out total_lines bigint,
    out range_start bigint,
    out range_end bigint,
    out range_text text
) returns record
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_lines constant text[] := patchdiff._lines(_line_range.content);
    v_start_line integer;
    v_end_line integer;
    v_before text := '';
begin
    total_lines := cardinality(v_lines);
    if greatest(_line_range.start_line, _line_range.end_line) > total_lines then
        return;
    end if;
    v_start_line := _line_range.start_line;
    v_end_line := coalesce(_line_range.end_line, total_lines);
    if v_start_line > 1 then
        v_before := array_to_string(v_lines[:v_start_line - 1], E'\n') || E'\n';
    end if;
    range_text := case
        when v_start_line = 1 and v_end_line = total_lines then _line_range.content
        when v_end_line = total_lines then array_to_string(v_lines[v_start_line:], E'\n')
        else array_to_string(v_lines[v_start_line:v_end_line], E'\n') || E'\n'
    end;
    -- on ASCII text a byte is a code point, and bytes need no counting
    range_start := case when _line_range.ascii then octet_length(v_before) else length(v_before) end;
    range_end := range_start
        + case when _line_range.ascii then octet_length(range_text) else length(range_text) end;
end
$function$;
comment on function patchdiff._line_range(text, boolean, bigint, bigint) is
'The one-based lines start_line to end_line of a text, both inclusive, each with its LF; end_line null is the
last line. Gives how many lines the text has, the range''s absolute code-point offsets, the end exclusive, and
its text; only total_lines when the range reaches past the last line. ascii tells that content is ASCII.';
revoke all on function patchdiff._line_range(text, boolean, bigint, bigint) from public;
