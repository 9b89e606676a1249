begin;
select plan(3);
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
select is(
    (select string_agg(r.symbol_name, ' ' order by r.i) from unnest(patchdiff._receipts(m.target::uuid, pg_temp.request()))
        with ordinality as r (
            target_file_id, observation_id, observation_bundle_id, ordinal, editing_cycle_id, target_version,
            target_current_hash, engine, language, symbol_name, symbol_kind, scope_start, scope_end, observed_scope_hash,
            consumed_by_pdcp_log_id, consumed_at, created_at, consumption, i
        )),
    'a b', 'in the request''s order'
) from made as m;
select is(patchdiff._receipts(m.target::uuid, '{}')::text, null, 'none of a request that is not observed') from made as m;
select is(
    cardinality(patchdiff._receipts(m.target::uuid, '{"observation": {"observation_id": "x"}}'))::text, '0', 'nor by no id'
) from made as m;
select * from finish();
rollback;
