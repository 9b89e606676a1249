create or replace function patchdiff.read_lines(
    target_file_id text,
    start_line bigint default 1,
    end_line bigint default null,
    "offset" bigint default 0,
    max_chars bigint default null,
    include_line_starts boolean default false
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(read_lines.target_file_id);
    v_refusal jsonb;
    v_target record;
    v_range record;
    v_start bigint;
    v_end bigint;
    v_page text;
begin
    v_refusal := case
        when v_id is null then patchdiff._target_refusal(read_lines.target_file_id)
        else patchdiff._read_lines_refusal(
            read_lines.start_line, read_lines.end_line, read_lines."offset", read_lines.max_chars,
            read_lines.include_line_starts
        )
    end;
    if v_refusal is not null then
        return v_refusal;
    end if;
    select
        t.version, t.current_hash, t.current_content as content, t.content_code_points as total,
        t.content_code_points = t.content_utf8_bytes as ascii
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._target_refusal(read_lines.target_file_id);
    end if;

    v_range := patchdiff._line_range(
        v_target.content, v_target.ascii, read_lines.start_line, read_lines.end_line
    );
    v_refusal := patchdiff._line_range_refusal(
        read_lines.start_line, read_lines.end_line, read_lines."offset",
        v_range.total_lines, v_range.range_end - v_range.range_start
    );
    if v_refusal is not null then
        return v_refusal;
    end if;
    v_page := patchdiff._slice(
        v_range.range_text, v_target.ascii, read_lines."offset", patchdiff._page_length(read_lines.max_chars)
    );
    v_start := v_range.range_start + read_lines."offset";
    v_end := v_start + length(v_page);
    return jsonb_build_object(
        'status', 'ok',
        'target_file_id', v_id,
        'version', v_target.version,
        'current_hash', v_target.current_hash,
        'total_chars', v_target.total,
        'total_lines', v_range.total_lines,
        'start_line', read_lines.start_line,
        'end_line', coalesce(read_lines.end_line, v_range.total_lines),
        'range_start', v_range.range_start,
        'range_end', v_range.range_end,
        'start', v_start,
        'end', v_end,
        'text', v_page,
        'truncated', v_end < v_range.range_end,
        'next_offset', case when v_end < v_range.range_end then v_end - v_range.range_start end,
        'next_start', case when v_end < v_range.range_end then v_end end
    ) || case
        when read_lines.include_line_starts then jsonb_build_object(
            'line_starts', patchdiff._line_starts(
                patchdiff._slice(v_range.range_text, v_target.ascii, 0, read_lines."offset"),
                v_page, read_lines.start_line, v_start,
                case when v_end = v_range.range_end
                    then coalesce(read_lines.end_line, v_range.total_lines) end
            )
        )
        else '{}'
    end;
end
$function$;
comment on function patchdiff.read_lines(text, bigint, bigint, bigint, bigint, boolean) is
'A page of a range of lines: one-based, both ends inclusive, broken at LF only, end_line null for the last line.
The page starts offset code points into the range and has at most max_chars code points: 4,000 for null, never
more than 8,000. Offsets in the answer are absolute code points with exclusive ends, but next_offset counts from
the range''s start; an offset equal to the range''s length is an empty last page. include_line_starts adds where
each line begins that begins in the page. From one observation. Refuses with invalid_argument: a malformed id
(invalid_target_id), lines below 1, out of order or past the last, an offset outside the range, a max_chars
below 1, nulls where none is allowed. not_found for an unknown target. Contract: patchdiff_read_lines.';
revoke all on function patchdiff.read_lines(text, bigint, bigint, bigint, bigint, boolean) from public;
grant execute on function patchdiff.read_lines(text, bigint, bigint, bigint, bigint, boolean)
to patchdiff_editor, patchdiff_reader;
