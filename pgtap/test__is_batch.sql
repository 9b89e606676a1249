-- req: BATCH-004, BATCH-005, BATCH-006, BATCH-007, BATCH-008
begin;
select plan(21);
create function pg_temp.id(n integer) returns text language sql as $$
    select format('%s-0000-4000-8000-000000000000', lpad(n::text, 8, '0'))
$$;
create function pg_temp.operations(n integer, fields jsonb default '{}') returns jsonb language sql as $$
    select coalesce(jsonb_agg('{"op": "match", "match": "a", "replace": "b"}'::jsonb || fields), '[]')
    from generate_series(1, n)
$$;
-- so many groups of so many operations
create function pg_temp.batch(groups integer, operations integer) returns jsonb language sql as $$
    select jsonb_build_object(
        'observation_bundle_id', pg_temp.id(0),
        'groups', coalesce(
            jsonb_agg(jsonb_build_object('observation_id', pg_temp.id(g), 'operations', pg_temp.operations(operations))),
            '[]'
        )
    )
    from generate_series(1, groups) as g
$$;
select is(patchdiff._is_batch(pg_temp.batch(b.groups, b.operations))::text, b.expected, format('%s x %s', b.groups, b.operations))
from (
    values (1, 1, 'true'), (32, 4, 'true'), (33, 1, 'false'), (0, 1, 'false'), (1, 128, 'true'), (1, 129, 'false'),
    (2, 64, 'true'), (2, 65, 'false'), (2, 0, 'false')
) as b (groups, operations, expected);
select is(patchdiff._is_batch(pg_temp.batch(2, 1) || c.change)::text, 'false', c.what)
from (
    values
    ('{"observation_bundle_id": "x"}'::jsonb, 'no bundle id'),
    ('{"observation_bundle_id": null}', 'no bundle'),
    ('{"groups": {}}', 'groups are an array'),
    ('{"groups": [5]}', 'of objects'),
    ('{"groups": [null]}', 'and not null'),
    (jsonb_build_object('groups', jsonb_build_array(jsonb_build_object(
        'observation_id', pg_temp.id(1), 'operations', pg_temp.operations(1), 'x', 1
    ))), 'a group has these two fields'),
    (jsonb_build_object('groups', jsonb_build_array(jsonb_build_object('observation_id', pg_temp.id(1)))), 'both of them'),
    (jsonb_build_object('groups', jsonb_build_array(jsonb_build_object(
        'observation_id', 'x', 'operations', pg_temp.operations(1)
    ))), 'a receipt is an id'),
    (jsonb_build_object('groups', jsonb_build_array(
        jsonb_build_object('observation_id', pg_temp.id(1), 'operations', pg_temp.operations(1)),
        jsonb_build_object('observation_id', pg_temp.id(1), 'operations', pg_temp.operations(1))
    )), 'one group a receipt'),
    (jsonb_build_object('groups', jsonb_build_array(jsonb_build_object(
        'observation_id', pg_temp.id(1), 'operations', pg_temp.operations(1, '{"x": 1}')
    ))), 'operations have their fields'),
    (jsonb_build_object('groups', jsonb_build_array(
        jsonb_build_object('observation_id', pg_temp.id(1), 'operations', pg_temp.operations(1, '{"change_id": "a"}')),
        jsonb_build_object('observation_id', pg_temp.id(2), 'operations', pg_temp.operations(1, '{"change_id": "a"}'))
    )), 'change ids differ over all groups'),
    (jsonb_build_object('groups', jsonb_build_array(
        jsonb_build_object('observation_id', pg_temp.id(1), 'operations', pg_temp.operations(1, '{"change_id": "chg_002"}')),
        jsonb_build_object('observation_id', pg_temp.id(2), 'operations', pg_temp.operations(1))
    )), 'the default ones by position included')
) as c (change, what);
select * from finish();
rollback;
