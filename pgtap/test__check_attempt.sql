begin;
select plan(10);
select is(patchdiff._check_attempt(p, '{}', '{}')::text, '', p)
from unnest(array['patchdiff-tx/1', 'patchdiff-tx/2', 'patchdiff-tx/3', 'patchdiff-invalid-input/1']) as p;
select throws_ok(format('select patchdiff._check_attempt(%L, %L, %L)', p, c, r), 'PD022', null, d)
from (values
    (null, '{}', '{}', 'no protocol'), ('foo', '{}', '{}', 'an unknown protocol'),
    ('patchdiff-observed-batch/1', '{}', '{}', 'a protocol of other tools'),
    ('patchdiff-tx/1', null, '{}', 'no record'), ('patchdiff-tx/1', '{}', null, 'no request'),
    ('patchdiff-tx/1', '{}', '[]', 'a request that is no object')
) as v (p, c, r, d);
select * from finish();
rollback;
