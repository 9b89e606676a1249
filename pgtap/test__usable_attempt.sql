-- req: LINE-006, LINE-008
begin;
select plan(9);
select is(patchdiff._usable_attempt('{"attempt": 1}'), 1::bigint, '1 is the first attempt');
select is(
    patchdiff._usable_attempt('{"attempt": 9223372036854775807}'),
    9223372036854775807,
    'the largest 64-bit integer is one'
);
select is(patchdiff._usable_attempt('{}'), null, 'absent');
select is(patchdiff._usable_attempt(format('{"attempt": %s}', v)::jsonb), null, v || ' is none')
from unnest(array['0', '-1', '1.0', 'true', '"1"', '9223372036854775808']) as v;
select * from finish();
rollback;
