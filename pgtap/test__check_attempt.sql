begin;
select plan(21);
select is(patchdiff._check_attempt(p, '{}', '{}')::text, '', p)
from unnest(array['patchdiff-tx/1', 'patchdiff-tx/2', 'patchdiff-tx/3', 'patchdiff-invalid-input/1']) as p;
select throws_ok(format('select patchdiff._check_attempt(%L, %L, %L)', p, c, r), 'PD022', null, d)
from (values
    (null, '{}', '{}', 'no protocol'), ('foo', '{}', '{}', 'an unknown protocol'),
    ('patchdiff-observed-batch/1', '{}', '{}', 'a batch without receipts'),
    ('patchdiff-tx/1', null, '{}', 'no record'), ('patchdiff-tx/1', '{}', null, 'no request'),
    ('patchdiff-tx/1', '{}', '[]', 'a request that is no object')
) as v (p, c, r, d);
select is(patchdiff._check_attempt(v.p, '{}', v.r::jsonb)::text, '', v.p || ' with ' || v.r)
from (
    values
    ('patchdiff-tx/2', '{"observation": {"observation_id": null}}'), ('patchdiff-tx/2', '{"observation": {}}'),
    ('patchdiff-observed-batch/1', '{"observation": {"observation_ids": []}}'),
    ('patchdiff-invalid-input/1', '{"observation": {}}')
) as v (p, r);
select throws_ok(format('select patchdiff._check_attempt(%L, %L, %L)', v.p, '{}', v.r), 'PD022', null, v.p || ' with ' || v.r)
from (
    values
    ('patchdiff-tx/1', '{"observation": {"observation_id": "x"}}'), ('patchdiff-tx/3', '{"observation": {}}'),
    ('patchdiff-tx/2', '{"observation": {"observation_ids": []}}'),
    ('patchdiff-observed-batch/1', '{"observation": {"observation_id": "x"}}'),
    ('patchdiff-observed-batch/1', '{"observation": ["observation_ids"]}'),
    ('patchdiff-tx/2', '{"observation": null}'), ('patchdiff-tx/2', '{"observation": "x"}')
) as v (p, r);
select * from finish();
rollback;
