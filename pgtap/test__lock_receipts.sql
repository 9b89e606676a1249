-- req: OBS-015
begin;
select plan(3);
create temp table made as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f.py', 'one two three') as a (answer);
create temp table issued as
select patchdiff.issue_observations(m.target, 0, m.hash, 'e@1', 'python', '[{"name": "b", "kind": "k", "start": 4, "end": 7},
    {"name": "a", "kind": "k", "start": 0, "end": 3}, {"name": "c", "kind": "k", "start": 8, "end": 9}]', true) as bundle
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
select is(patchdiff._lock_receipts(m.target::uuid, pg_temp.request())::text, '', 'locks') from made as m;
select is(
    (
        select string_agg(o.symbol_name, ' ' order by o.symbol_name)
        from patchdiff.target_scope_observations as o, made as m
        where o.target_file_id = m.target::uuid and o.xmax <> '0'
    ),
    'a b', 'the receipts that are named, and not the third'
);
select is(patchdiff._lock_receipts(m.target::uuid, '{}')::text, '', 'and nothing for a request that is not observed') from made as m;
select * from finish();
rollback;
