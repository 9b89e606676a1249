-- req: READ-022, READ-024, READ-025, READ-026, READ-028
begin;
select plan(16);
select has_function('patchdiff', '_line_range', array['text', 'boolean', 'bigint', 'bigint'], 'signature');
select is(r::text, g.expected::text, format('%s to %s of %L', g.first, g.last, g.content))
from (
    values
    (E'ab\ncd\nef', 1, null, (3, 0, 8, E'ab\ncd\nef')),
    (E'ab\ncd\nef', 1, 3, (3, 0, 8, E'ab\ncd\nef')),
    (E'ab\ncd\nef', 1, 1, (3, 0, 3, E'ab\n')),
    (E'ab\ncd\nef', 2, 2, (3, 3, 6, E'cd\n')),
    (E'ab\ncd\nef', 2, null, (3, 3, 8, E'cd\nef')),
    (E'ab\ncd\nef', 3, 3, (3, 6, 8, 'ef')),
    (E'\u4E2D\n\U0001F600x\n', 2, 2, (3, 2, 5, E'\U0001F600x\n')),
    (E'\u4E2D\n\U0001F600x\n', 3, 3, (3, 5, 5, '')),
    (E'\n\n', 2, 2, (3, 1, 2, E'\n')),
    ('', 1, null, (1, 0, 0, ''))
) as g (content, first, last, expected)
cross join lateral patchdiff._line_range(g.content, g.content ~ '^[[:ascii:]]*$', g.first, g.last) as r;
select is(r::text, '(3,,,)', format('%s to %s is past the last line', g.first, g.last))
from (values (4, null), (1, 4), (9223372036854775807, null), (4, 2), (3, 9223372036854775807)) as g (first, last)
cross join lateral patchdiff._line_range(E'ab\ncd\nef', true, g.first, g.last) as r;
select * from finish();
rollback;
