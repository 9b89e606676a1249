-- req: SCOPE-051
begin;
select plan(14);
create temp table made as
select
    a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash,
    (patchdiff.initialize_target('g', 'other') ->> 'target_file_id')::uuid as other
from patchdiff.initialize_target('f.py', 'one two') as a (answer);
create temp table receipt as
select (patchdiff.issue_observations(
    m.target, 0, m.hash, 'e@1', 'python', '[{"name": "n", "kind": "function", "start": 1, "end": 5}]'
) #>> '{observations,0,observation_id}')::uuid as id from made as m;
create function pg_temp.code(paging boolean default false, engine text default 'e@1', id jsonb default null) returns text
language sql as $$
    select patchdiff._receipt_failure(m.target::uuid, coalesce(code.id, to_jsonb(r.id)), engine, paging) ->> 'code'
    from made as m, receipt as r
$$;
create function pg_temp.with_receipt(change text, paging boolean default false) returns text language plpgsql as $$
begin
    execute change using (select r.id from receipt as r), (select m.target::uuid from made as m);
    raise exception using message = coalesce(pg_temp.code(paging), 'usable');
exception
    when raise_exception then
        return sqlerrm;
end
$$;
select is(pg_temp.code(), null, 'a receipt of now may be used');
select is(pg_temp.code(engine => 'e@2'), 'STALE_OBSERVATION_ENGINE', 'not under another engine');
select is(pg_temp.code(engine => null), 'STALE_OBSERVATION_ENGINE', 'nor under none');
select is(pg_temp.code(id => i.id::jsonb), i.expected, i.id)
from (
    values
    ('null', 'OBSERVATION_REQUIRED'), ('5', 'INVALID_OBSERVATION_ID'), ('"x"', 'INVALID_OBSERVATION_ID'),
    ('{}', 'INVALID_OBSERVATION_ID'), ('"00000000-0000-4000-8000-000000000000"', 'UNKNOWN_OBSERVATION_ID')
) as i (id, expected);
select is(
    patchdiff._receipt_failure(m.other, to_jsonb(r.id), 'e@1', false) ->> 'code', 'OBSERVATION_TARGET_MISMATCH',
    'a receipt of another target'
) from made as m, receipt as r;
select is(pg_temp.with_receipt(
    'update patchdiff.target_scope_observations set target_version = 1 where observation_id = $1'
), 'STALE_OBSERVATION_VERSION', 'another version');
select is(pg_temp.with_receipt(
    $$update patchdiff.target_scope_observations set target_current_hash = 'x' where observation_id = $1$$
), 'STALE_OBSERVATION_HASH', 'another hash');
create temp table rejected as
select patchdiff.submit_replacement(m.target, 'i', '', expected_target_version => 7) ->> 'pdcp_log_id' as id from made as m;
select is(pg_temp.with_receipt(format(
    $$update patchdiff.target_scope_observations
      set consumed_by_pdcp_log_id = %L, consumed_at = now(), consumption = 'single' where observation_id = $1$$, r.id
)), 'OBSERVATION_ALREADY_CONSUMED', 'used') from rejected as r;
select is(pg_temp.with_receipt(format(
    $$update patchdiff.target_scope_observations
      set consumed_by_pdcp_log_id = %L, consumed_at = now(), consumption = 'single' where observation_id = $1$$, r.id
), true), 'usable', 'which does not matter to paging') from rejected as r;
create temp table saved as select patchdiff.save(m.target) as answer from made as m;
select is(pg_temp.code(), 'OBSERVATION_CYCLE_MISMATCH', 'after a save');
select * from finish();
rollback;
