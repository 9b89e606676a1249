-- req: SCOPE-012, SCOPE-030, SCOPE-031, SCOPE-032, SCOPE-033, SCOPE-034, SCOPE-035, SCOPE-036, SCOPE-051
begin;
select plan(26);
create temp table made as
select
    a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash,
    patchdiff.initialize_target('g', 'other') ->> 'target_file_id' as other
from patchdiff.initialize_target('f.py', E'é😀 one\ntwo three\nfour') as a (answer);
create temp table receipt as
select patchdiff.issue_observations(
    m.target, 0, m.hash, 'e@1', 'python', '[{"name": "n", "kind": "function", "start": 1, "end": 16}]'
) #>> '{observations,0,observation_id}' as id from made as m;
create function pg_temp.page(place bigint, size bigint default 4, engine text default 'e@1') returns jsonb language sql as $$
    select patchdiff.observed_page(m.target, r.id, engine, place, size) from made as m, receipt as r
$$;
select is(
    (select string_agg(pg_temp.page(p) ->> 'text', '' order by p) from generate_series(0, 12, 4) as p),
    E'😀 one\ntwo three', 'the pages make the scope'
);
select is(pg_temp.page(0) ->> p.name, p.value, p.name)
from (
    values ('status', 'observed'), ('mode', 'scope_page'), ('truncated', 'true'), ('next_offset', '4'), ('start', '1'),
    ('end', '5'), ('engine', 'e@1'), ('target_version', '0')
) as p (name, value);
select is(pg_temp.page(12) ->> 'next_offset', null, 'the last page');
select is(pg_temp.page(15) ->> 'text', '', 'an empty one at the end');
select is(pg_temp.page(16) ->> 'status', 'invalid_argument', 'none past it');
select is(pg_temp.page(-1) ->> 'status', 'invalid_argument', 'nor before the start');
select is(patchdiff.observed_page(coalesce(i.target, m.target), i.id, 'e@1') ->> i.field, i.expected, i.expected)
from made as m
cross join (
    values
    (null, '00000000-0000-4000-8000-000000000000', 'code', 'UNKNOWN_OBSERVATION_ID'),
    (null, 'x', 'code', 'INVALID_OBSERVATION_ID'), (null, 'x', 'status', 'invalid_argument'),
    ('00000000-0000-4000-8000-000000000001', 'x', 'status', 'not_found')
) as i (target, id, field, expected);
select is(
    patchdiff.observed_page(m.other, r.id, 'e@1') ->> 'code', 'OBSERVATION_TARGET_MISMATCH', 'another target''s receipt'
) from made as m, receipt as r;
select is(pg_temp.page(0, 4, 'e@2') ->> 'code', 'STALE_OBSERVATION_ENGINE', 'another engine');
create temp table edited as
select patchdiff.submit_replacement(m.target, 'i', 'other', expected_target_version => 0) as answer from made as m;
select is(pg_temp.page(0) ->> 'code', 'STALE_OBSERVATION_VERSION', 'after an edit');
create temp table receipt_of_now as
select patchdiff.issue_observations(
    m.target, 1, e.answer ->> 'after_hash', 'e@1', 'python', '[{"name": "n", "kind": "function", "start": 0, "end": 5}]'
) #>> '{observations,0,observation_id}' as id from made as m, edited as e;
update receipt set id = n.id from receipt_of_now as n;
select is(pg_temp.page(0) ->> 'text', 'othe', 'observed again');
create temp table saved as select patchdiff.save(m.target) as answer from made as m;
select is(pg_temp.page(0) ->> 'code', 'OBSERVATION_CYCLE_MISMATCH', 'after a save');
create temp table receipt_after as
select patchdiff.issue_observations(
    m.target, 1, e.answer ->> 'after_hash', 'e@1', 'python', '[{"name": "n", "kind": "function", "start": 0, "end": 5}]'
) #>> '{observations,0,observation_id}' as id from made as m, edited as e;
update receipt set id = n.id from receipt_after as n;
select is(pg_temp.page(0, s.size) ->> 'status', s.expected, 'a page of ' || s.size)
from (values (0, 'invalid_argument'), (-1, 'invalid_argument'), (1, 'observed')) as s (size, expected);
select is(pg_temp.page(0, -1) ->> 'failure_detail', 'max_chars must be 1 or more, or null for 4000: it is -1.', 'which it says');
select * from finish();
rollback;
