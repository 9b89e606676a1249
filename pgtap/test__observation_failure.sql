-- req: BATCH-009
begin;
select plan(15);
create temp table made as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f.py', 'one two three') as a (answer);
create temp table issued as
select
    patchdiff.issue_observations(m.target, 0, m.hash, 'e@1', 'python', '[{"name": "a", "kind": "k", "start": 0, "end": 3},
        {"name": "b", "kind": "k", "start": 4, "end": 7}]', true) as bundle,
    patchdiff.issue_observations(
        m.target, 0, m.hash, 'e@1', 'python', '[{"name": "c", "kind": "k", "start": 8, "end": 9}]'
    ) #>> '{observations,0,observation_id}' as single
from made as m;
create function pg_temp.code(observation jsonb) returns text language sql as $$
    select patchdiff._observation_failure(
        m.target::uuid, jsonb_build_object('observation', '{"engine": "e@1"}'::jsonb || observation)
    ) ->> 'code'
    from made as m
$$;
select is(
    pg_temp.code(jsonb_build_object(
        'observation_bundle_id', i.bundle -> 'observation_bundle_id',
        'observation_ids', jsonb_path_query_array(i.bundle, '$.observations[*].observation_id')
    )), null, 'a bundle''s receipts'
) from issued as i;
select is(
    pg_temp.code(jsonb_build_object(
        'observation_bundle_id', i.bundle -> 'observation_bundle_id',
        'observation_ids', jsonb_build_array(i.bundle #> '{observations,1,observation_id}')
    )), null, 'or one of them'
) from issued as i;
select is(
    pg_temp.code(jsonb_build_object(
        'observation_bundle_id', i.bundle -> 'observation_bundle_id', 'observation_ids', jsonb_build_array(i.single)
    )), 'OBSERVATION_NOT_IN_BUNDLE', 'but no other'
) from issued as i;
select is(
    pg_temp.code(jsonb_build_object(
        'observation_bundle_id', i.bundle -> 'observation_bundle_id',
        'observation_ids', jsonb_build_array(i.bundle #> '{observations,1,observation_id}', 'x', i.single)
    )), 'INVALID_OBSERVATION_ID', 'the first that may not be used is told'
) from issued as i;
select is(pg_temp.code(o.observation::jsonb), o.expected, o.observation)
from (
    values
    ('{"observation_ids": []}', 'OBSERVATION_REQUIRED'),
    ('{"observation_ids": [], "observation_bundle_id": "x"}', 'INVALID_OBSERVATION_ID'),
    ('{"observation_ids": [], "observation_bundle_id": "00000000-0000-4000-8000-000000000000"}', 'UNKNOWN_OBSERVATION_ID'),
    ('{}', 'OBSERVATION_REQUIRED')
) as o (observation, expected);
select is(
    patchdiff._observation_failure('00000000-0000-4000-8000-000000000000', '{}')::text, null, 'a request that is not observed'
);
select is(
    pg_temp.code(jsonb_build_object(
        'observation_bundle_id', i.bundle -> 'observation_bundle_id', 'observation_ids', n.ids::jsonb
    )), 'OBSERVATION_REQUIRED', 'a batch that names no receipts: ' || n.ids
)
from issued as i cross join (values ('[]'), ('null'), ('"x"'), ('{}'), ('5')) as n (ids);
select is(
    pg_temp.code(jsonb_build_object('observation_bundle_id', i.single, 'observation_ids', '["x"]'::jsonb)),
    'UNKNOWN_OBSERVATION_ID', 'a receipt is no bundle'
) from issued as i;
select * from finish();
rollback;
