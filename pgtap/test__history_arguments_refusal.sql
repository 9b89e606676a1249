begin;
select plan(10);
select has_function(
    'patchdiff', '_history_arguments_refusal', array['bigint', 'bigint', 'text', 'boolean'], 'signature'
);
select is(patchdiff._history_arguments_refusal(g.page_limit, g.before_sequence, 'flag', g.flag), null, 'accepted')
from (values (1, 1, true), (null, null, false), (9223372036854775807, 9223372036854775807, true))
as g (page_limit, before_sequence, flag);
select is(
    patchdiff._history_arguments_refusal(g.page_limit, g.before_sequence, 'some_flag', g.flag)
    ->> 'failure_detail',
    g.expected, g.expected
)
from (
    values
    (0, 1, true, 'limit must be 1 or more, or null for 50: it is 0.'),
    (-7, 1, true, 'limit must be 1 or more, or null for 50: it is -7.'),
    (
        1, 0, true,
        'before_sequence must be 1 or more, or null: it is 0. Pass the next_sequence of the page before.'
    ),
    (
        1, -1, true,
        'before_sequence must be 1 or more, or null: it is -1. Pass the next_sequence of the page before.'
    ),
    (1, 1, null, 'some_flag must be true or false.')
) as g (page_limit, before_sequence, flag, expected);
select is(
    patchdiff._history_arguments_refusal(0, null, 'flag', true) - 'failure_detail',
    '{"status": "invalid_argument", "entries": [], "has_more": false, "next_sequence": null}', 'the whole refusal'
);
select * from finish();
rollback;
