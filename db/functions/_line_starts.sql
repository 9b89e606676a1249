create or replace function patchdiff._line_starts(
    before text,
    page text,
    first_line bigint,
    page_start bigint,
    last_page_to_line bigint
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_before constant text[] := patchdiff._lines(_line_starts.before);
    v_page_end constant bigint := _line_starts.page_start + length(_line_starts.page);
    v_starts jsonb;
begin
    with pieces as (
        select
            p.ordinality as piece,
            _line_starts.first_line + cardinality(v_before) - 2 + p.ordinality as line,
            _line_starts.page_start - length(p.piece_text) - 1
            + sum(length(p.piece_text) + 1) over (order by p.ordinality) as start
        from unnest(patchdiff._lines(_line_starts.page)) with ordinality as p (piece_text, ordinality)
    )

    select jsonb_agg(jsonb_build_object('line', p.line, 'start', p.start) order by p.piece)
    into v_starts
    from pieces as p
    where
        (p.piece > 1 or v_before[cardinality(v_before)] = '')
        and (p.start < v_page_end or p.line <= _line_starts.last_page_to_line);
    return coalesce(v_starts, '[]');
end
$function$;
comment on function patchdiff._line_starts(text, text, bigint, bigint, bigint) is
'The lines that begin in a page, as [{line, start}] with absolute code-point offsets. before is the range''s text
in front of the page, first_line the number of the range''s first line, page_start the page''s offset.
last_page_to_line is the range''s last line when the page ends the range, otherwise null: then the empty final
line that begins at the page''s end is listed too.';
revoke all on function patchdiff._line_starts(text, text, bigint, bigint, bigint) from public;
