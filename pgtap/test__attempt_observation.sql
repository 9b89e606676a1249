begin;
select plan(2);
create temp table made as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f.py', 'one two three') as a (answer);
create temp table issued as
select patchdiff.issue_observations(m.target, 0, m.hash, 'e@1', 'python', '[{"name": "b", "kind": "k", "start": 4, "end": 7},
    {"name": "a", "kind": "k", "start": 0, "end": 3}]', true) as bundle
from made as m;
create function pg_temp.receipt(n integer) returns uuid language sql as $$
    select (i.bundle #>> array['observations', n::text, 'observation_id'])::uuid from issued as i
$$;
create function pg_temp.request() returns jsonb language sql as $$
    select jsonb_build_object('observation', jsonb_build_object(
        'observation_bundle_id', i.bundle -> 'observation_bundle_id',
        'observation_ids', jsonb_build_array(pg_temp.receipt(1), pg_temp.receipt(0))
    ))
    from issued as i
$$;
create temp table attempt as
select (patchdiff.submit_replacement(m.target, 'i', '', expected_target_version => 7) ->> 'pdcp_log_id')::uuid as id
from made as m;
select is(
    patchdiff._attempt_observation(m.target::uuid, a.id), '{}', 'nothing of an attempt that was not observed'
) from made as m, attempt as a;
create temp table observed as
select (patchdiff.reject_attempt(
    m.target, 0, m.hash, 'patchdiff-tx/2', '{"protocol":"patchdiff-tx/2","intent":"i","operations":[]}',
    jsonb_build_object('expected_target_version', 0, 'expected_current_hash', m.hash, 'observation', jsonb_build_object(
        'engine', 'e@1', 'observation_id', pg_temp.receipt(0)
    )),
    '{"failure_reason": "match_absent", "failure_detail": "d"}',
    '{"retryable": true, "validation_stage": "transaction_applicability"}'
) ->> 'pdcp_log_id')::uuid as id from made as m;
select is(
    patchdiff._attempt_observation(m.target::uuid, o.id), jsonb_build_object('observation_id', pg_temp.receipt(0)),
    'the receipt of one in single form; test_observed_attempts.sql has those of batches'
) from made as m, observed as o;
select * from finish();
rollback;
