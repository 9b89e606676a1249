-- req: READ-048
begin;
select plan(16);
select has_function(
    'patchdiff', '_read_lines_refusal', array['bigint', 'bigint', 'bigint', 'bigint', 'boolean'], 'signature'
);
select is(patchdiff._read_lines_refusal(g.first, g.last, g.start, g.most, g.starts), null, 'nothing to say')
from (
    values
    (1, null, 0, null, false),
    (1, 1, 0, 1, true),
    (5, 9223372036854775807, 9223372036854775807, 9223372036854775807, true)
) as g (first, last, start, most, starts);
select is(
    patchdiff._read_lines_refusal(g.first, g.last, g.start, g.most, g.starts),
    jsonb_build_object('status', 'invalid_argument', 'failure_detail', g.expected), g.expected
)
from (
    values
    (null, null, 0, null, false, 'start_line must be a line number of 1 or more.'),
    (0, null, 0, null, false, 'start_line must be a line number of 1 or more.'),
    (-1, null, 0, null, false, 'start_line must be a line number of 1 or more.'),
    (1, 0, 0, null, false, 'end_line must be a line number of 1 or more, or null for the last line: it is 0.'),
    (1, -1, 0, null, false, 'end_line must be a line number of 1 or more, or null for the last line: it is -1.'),
    (3, 2, 0, null, false, 'end_line must be at least start_line: 2 is below 3.'),
    (1, null, null, null, false, 'offset must be 0 or more: code points from the start of the range, as in next_offset.'),
    (1, null, -1, null, false, 'offset must be 0 or more: code points from the start of the range, as in next_offset.'),
    (1, null, 0, 0, false, 'max_chars must be 1 or more, or null for 4000: it is 0.'),
    (1, null, 0, -1, false, 'max_chars must be 1 or more, or null for 4000: it is -1.'),
    (1, null, 0, null, null, 'include_line_starts must be true or false.'),
    (0, 0, -1, 0, null, 'start_line must be a line number of 1 or more.')
) as g (first, last, start, most, starts, expected);
select * from finish();
rollback;
