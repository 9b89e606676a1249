-- req: OBS-020
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
    patchdiff._consume_receipts(
        m.target::uuid, (patchdiff._receipts(m.target::uuid, pg_temp.request()))[1:1], a.id, 'single'
    )::text, '', 'links'
) from made as m, attempt as a;
select is(
    (
        select string_agg(
            o.symbol_name || ' ' || coalesce(o.consumption || ' ' || (o.consumed_by_pdcp_log_id = a.id)::text, 'unused'), ', '
            order by o.symbol_name
        )
        from patchdiff.target_scope_observations as o, made as m, attempt as a where o.target_file_id = m.target::uuid
    ),
    'a single true, b unused', 'the given receipts and no others'
);
select * from finish();
rollback;
