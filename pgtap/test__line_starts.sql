-- req: READ-040, READ-041, READ-042, READ-043
begin;
select plan(13);
select has_function('patchdiff', '_line_starts', array['text', 'text', 'bigint', 'bigint', 'bigint'], 'signature');
select is(
    patchdiff._line_starts(g.before, g.page, g.first_line, g.page_start, g.last_page_to_line), g.expected::jsonb, g.what
)
from (
    values
    ('an empty text', '', '', 1, 0, 1, '[{"line": 1, "start": 0}]'),
    ('a line', '', 'ab', 1, 0, 1, '[{"line": 1, "start": 0}]'),
    ('a line and the empty last one', '', E'ab\n', 1, 0, 2, '[{"line": 1, "start": 0}, {"line": 2, "start": 3}]'),
    ('a range that ends before it', '', E'ab\n', 1, 0, 1, '[{"line": 1, "start": 0}]'),
    ('a page with more to come', '', E'ab\n', 1, 0, null, '[{"line": 1, "start": 0}]'),
    ('mid-line', 'a', E'b\nc', 1, 1, null, '[{"line": 2, "start": 3}]'),
    ('after a line', E'ab\n', 'c', 1, 3, null, '[{"line": 2, "start": 3}]'),
    ('inside a line', 'a', 'b', 1, 1, 1, '[]'),
    ('an empty last page on a line start', E'ab\n', '', 1, 3, 2, '[{"line": 2, "start": 3}]'),
    ('an empty last page in mid-line', 'ab', '', 1, 2, 1, '[]'),
    ('a range further down', E'x\n', E'\u4E2D\n\n', 7, 100, null, '[{"line": 8, "start": 100}, {"line": 9, "start": 102}]'),
    ('empty lines', '', E'\n\n', 1, 0, 3, '[{"line": 1, "start": 0}, {"line": 2, "start": 1}, {"line": 3, "start": 2}]')
) as g (what, before, page, first_line, page_start, last_page_to_line, expected);
select * from finish();
rollback;
