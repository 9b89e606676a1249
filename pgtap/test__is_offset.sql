-- req: TX2-009, TX2-010, TX2-011
begin;
select plan(13);
select is(patchdiff._is_offset(g.value::jsonb), g.expected, g.value)
from (
    values
    ('0', true),
    ('-0', true),
    ('9223372036854775807', true),
    ('9223372036854775808', false),
    ('1e400', false),
    ('-1', false),
    ('1.0', false),
    ('0.5', false),
    ('true', false),
    ('"1"', false),
    ('null', false),
    ('[1]', false)
) as g (value, expected);
select is(patchdiff._is_offset(null), null, 'nothing');
select * from finish();
rollback;
