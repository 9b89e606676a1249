-- req: OBS-041, OBS-044
begin;
select plan(4);
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
create function pg_temp.code(attempt jsonb, n integer, content text default 'one two three') returns text language sql as $$
    select patchdiff._receipts_failure(
        jsonb_populate_record(null::patchdiff.append_only_pdcp_logs, jsonb_build_object(
            'target_file_id', m.target, 'protocol_version', 'patchdiff-tx/2', 'before_version', 0, 'before_hash', m.hash,
            'editing_cycle_id', t.active_editing_cycle_id
        ) || attempt),
        array(
            select jsonb_populate_record(o, '{"consumption": "single"}')
            from patchdiff.target_scope_observations as o where o.observation_id = pg_temp.receipt(n)
        ),
        content
    ) ->> 'code'
    from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
$$;
select is(pg_temp.code(jsonb_build_object('observation_id', pg_temp.receipt(0)), 0), null, 'the receipt that the attempt names');
select is(pg_temp.code(jsonb_build_object('observation_id', pg_temp.receipt(0)), 0, 'one TWO three'), 'receipt_altered',
    'whose scope must be in the text');
select is(pg_temp.code(jsonb_build_object('observation_id', pg_temp.receipt(0)), 1), 'receipt_missing', 'another one');
select is(pg_temp.code('{}', 9), null, 'an attempt that was not observed has none');
select * from finish();
rollback;
