create or replace function patchdiff._read_lines_refusal(
    start_line bigint,
    end_line bigint,
    "offset" bigint,
    max_chars bigint,
    include_line_starts boolean
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_detail text;
begin
    v_detail := case
        when _read_lines_refusal.start_line is null or _read_lines_refusal.start_line < 1
            then 'start_line must be a line number of 1 or more.'
        when _read_lines_refusal.end_line < 1
            then 'end_line must be a line number of 1 or more, or null for the last line: it is '
            || _read_lines_refusal.end_line || '.'
        when _read_lines_refusal.end_line < _read_lines_refusal.start_line
            then 'end_line must be at least start_line: ' || _read_lines_refusal.end_line || ' is below '
            || _read_lines_refusal.start_line || '.'
        when _read_lines_refusal."offset" is null or _read_lines_refusal."offset" < 0
            then 'offset must be 0 or more: code points from the start of the range, as in next_offset.'
        when _read_lines_refusal.max_chars < 1
            then 'max_chars must be 1 or more, or null for 4000: it is ' || _read_lines_refusal.max_chars || '.'
        when _read_lines_refusal.include_line_starts is null
            then 'include_line_starts must be true or false.'
    end;
    if v_detail is null then
        return null;
    end if;
    return patchdiff._refusal('invalid_argument', null, v_detail);
end
$function$;
comment on function patchdiff._read_lines_refusal(bigint, bigint, bigint, bigint, boolean) is
'What can be said against the arguments of read_lines without looking at the target; null when nothing.';
revoke all on function patchdiff._read_lines_refusal(bigint, bigint, bigint, bigint, boolean) from public;
