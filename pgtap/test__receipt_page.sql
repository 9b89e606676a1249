-- req: SCOPE-016
begin;
select plan(9);
create function pg_temp.page(content text, first bigint, past bigint, place bigint, size bigint) returns jsonb
language plpgsql as $$
declare
    v_receipt patchdiff.target_scope_observations;
begin
    v_receipt.scope_start := first;
    v_receipt.scope_end := past;
    return patchdiff._receipt_page(v_receipt, content, length(content) = octet_length(content), place, size, true);
end
$$;
select is(
    concat_ws(' ', p.page ->> 'start_line', p.page ->> 'end_line', p.page -> 'line_starts'), e.expected, e.what
)
from (
    values
    ('a page within a line', E'ab\ncdef\ng', 4, 8, 0, 2, '2 2 []'),
    ('a line that begins in it', E'ab\ncdef\ng', 3, 8, 0, 3, '2 2 [{"line": 2, "start": 3}]'),
    ('its last line feed is of its line', E'ab\ncdef\ng', 3, 8, 0, 5, '2 2 [{"line": 2, "start": 3}]'),
    ('several lines', E'ab\ncdef\ng', 0, 9, 0, 100,
     '1 3 [{"line": 1, "start": 0}, {"line": 2, "start": 3}, {"line": 3, "start": 8}]'),
    ('over code points', E'é😀\n中\n', 0, 5, 3, 100, '2 2 [{"line": 2, "start": 3}]'),
    ('an empty page', 'abc', 1, 3, 2, 5, '1 1 []')
) as e (what, content, first, past, place, size, expected)
cross join lateral pg_temp.page(e.content, e.first, e.past, e.place, e.size) as p (page);
select is(pg_temp.page(repeat('x', 9000), 0, 9000, 0, s.size) ->> 'max_chars', s.expected, 'at most 8,000, and 4,000 for null')
from (values (null, '4000'), (8000, '8000'), (8001, '8000')) as s (size, expected);
select * from finish();
rollback;
