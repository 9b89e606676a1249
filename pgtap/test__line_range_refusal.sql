-- req: READ-046, READ-047, READ-050
begin;
select plan(9);
select has_function(
    'patchdiff', '_line_range_refusal', array['bigint', 'bigint', 'bigint', 'bigint', 'bigint'], 'signature'
);
select is(patchdiff._line_range_refusal(g.first, g.last, g.start, 3, 10), null, 'in bounds')
from (values (1, null, 0), (3, 3, 10), (1, 3, 0)) as g (first, last, start);
select is(
    patchdiff._line_range_refusal(g.first, g.last, g.start, 3, 10),
    jsonb_build_object('status', 'invalid_argument', 'failure_detail', g.expected), g.expected
)
from (
    values
    (4, null, 0, 'start_line 4 is past the last line, which is 3.'),
    (4, 4, 0, 'start_line 4 is past the last line, which is 3.'),
    (3, 4, 0, 'end_line 4 is past the last line, which is 3.'),
    (1, null, 11, 'offset must be at most the range''s 10 code points: it is 11.'),
    (9223372036854775807, null, 0, 'start_line 9223372036854775807 is past the last line, which is 3.')
) as g (first, last, start, expected);
select * from finish();
rollback;
