create or replace function patchdiff._line_range_refusal(
    start_line bigint,
    end_line bigint,
    "offset" bigint,
    total_lines bigint,
    range_length bigint
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
        when _line_range_refusal.start_line > _line_range_refusal.total_lines
            then 'start_line ' || _line_range_refusal.start_line || ' is past the last line, which is '
            || _line_range_refusal.total_lines || '.'
        when _line_range_refusal.end_line > _line_range_refusal.total_lines
            then 'end_line ' || _line_range_refusal.end_line || ' is past the last line, which is '
            || _line_range_refusal.total_lines || '.'
        when _line_range_refusal."offset" > _line_range_refusal.range_length
            then 'offset must be at most the range''s ' || _line_range_refusal.range_length
            || ' code points: it is ' || _line_range_refusal."offset" || '.'
    end;
    if v_detail is null then
        return null;
    end if;
    return patchdiff._refusal('invalid_argument', null, v_detail);
end
$function$;
comment on function patchdiff._line_range_refusal(bigint, bigint, bigint, bigint, bigint) is
'Refuses a line range that reaches past the text''s last line, and an offset past the range''s length in code
points; null when both are in bounds.';
revoke all on function patchdiff._line_range_refusal(bigint, bigint, bigint, bigint, bigint) from public;
