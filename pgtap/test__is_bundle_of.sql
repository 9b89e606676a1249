-- req: BATCH-025
begin;
select plan(7);
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
create function pg_temp.verdict(attempt jsonb, bundle uuid default null) returns text language sql as $$
    select patchdiff._is_bundle_of(
        jsonb_populate_record(null::patchdiff.append_only_pdcp_logs, jsonb_build_object(
            'target_file_id', m.target, 'before_version', 0, 'before_hash', m.hash,
            'editing_cycle_id', t.active_editing_cycle_id
        ) || attempt),
        coalesce(verdict.bundle, (i.bundle ->> 'observation_bundle_id')::uuid),
        patchdiff._receipts(m.target::uuid, pg_temp.request())
    )::text
    from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid, issued as i
$$;
select is(pg_temp.verdict('{}'), 'true', 'the bundle of the state that the attempt was made on');
select is(pg_temp.verdict('{"before_version": 1}'), 'false', 'not of another version');
select is(pg_temp.verdict('{"before_hash": "x"}'), 'false', 'nor of another text');
select is(pg_temp.verdict('{}', '00000000-0000-4000-8000-000000000000'), 'false', 'nor one that is not there');
create temp table saved as select patchdiff.save(m.target) ->> 'status' as status from made as m;
select is(pg_temp.verdict('{}'), 'false', 'nor of another editing cycle, that of the target after a save');
select is(
    pg_temp.verdict(jsonb_build_object('editing_cycle_id', b.editing_cycle_id)), 'true', 'it stays that of its own'
) from patchdiff.target_scope_bundles as b, made as m where b.target_file_id = m.target::uuid;
update patchdiff.target_scope_observations as o set engine = 'e@2' where o.observation_id = pg_temp.receipt(1);
select is(
    pg_temp.verdict(jsonb_build_object('editing_cycle_id', b.editing_cycle_id)), 'false', 'nor of another engine than a receipt'
) from patchdiff.target_scope_bundles as b, made as m where b.target_file_id = m.target::uuid;
select * from finish();
rollback;
