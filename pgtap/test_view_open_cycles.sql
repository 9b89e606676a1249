begin;
select plan(6);
create temp table made as
select n.name, patchdiff.initialize_target(n.name || '.txt', E'alpha beta\n') ->> 'target_file_id' as target
from (values ('mine'), ('other'), ('fresh')) as n (name);
create function pg_temp.id(name text) returns uuid language sql as $$
    select m.target::uuid from made as m where m.name = id.name
$$;
-- 1 accepted, two changes; 2 rejected; a save; 3 rejected, a retry of 2; 4 accepted, whole; 5 another's, rejected
create temp table submitted as
select
    1 as place,
    patchdiff.submit_spans(pg_temp.id('mine')::text, 'why', '[
        {"start": 6, "end": 10, "expected_text": "beta", "replace": "Beta", "rationale": "b", "risk": "low"},
        {"start": 0, "end": 5, "expected_text": "alpha", "replace": "Alpha"}
    ]', 0, source => 'ann') as answer;
insert into submitted select 2, patchdiff.submit_spans(
    pg_temp.id('mine')::text, repeat('long ', 60), '[{"start": 0, "end": 5, "expected_text": "x", "replace": ""}]', 1,
    source => 'ben', client_request_id => 'key'
);
create temp table saved as select patchdiff.save(pg_temp.id('mine')::text) as answer;
insert into submitted select 3, patchdiff.submit_spans(
    pg_temp.id('mine')::text, 'no', '[{"start": 0, "end": 5, "expected_text": "Alpha", "replace": ""}]',
    source => 'ben', parent_pdcp_log_id => (select s.answer ->> 'pdcp_log_id' from submitted as s where s.place = 2),
    attempt => 2
);
insert into submitted select 4, patchdiff.submit_replacement(
    pg_temp.id('mine')::text, 'whole', E'end\n', 1, source => 'ann'
);
insert into submitted select 5, patchdiff.submit_spans(
    pg_temp.id('other')::text, 'o', '[{"start": 0, "end": 5, "expected_text": "x", "replace": ""}]', 0, source => 'ann'
);
create function pg_temp.log_id(place integer) returns uuid language sql as $$
    select (s.answer ->> 'pdcp_log_id')::uuid from submitted as s where s.place = log_id.place
$$;
create function pg_temp.recorded(place integer) returns patchdiff.append_only_pdcp_logs language sql as $$
    select l from patchdiff.append_only_pdcp_logs as l where l.pdcp_log_id = pg_temp.log_id(recorded.place)
$$;

select has_view('patchdiff', 'open_cycles', 'the view');
select columns_are(
    'patchdiff', 'open_cycles',
    array[
        'target_file_id', 'filename', 'editing_cycle_id', 'opened_at', 'opened_version',
        'version', 'edits', 'changes', 'last_edit_at'
    ],
    'its columns'
);

select results_eq(
    $$select o.filename, o.editing_cycle_id, o.opened_version, o.version, o.edits, o.changes, o.last_edit_at
      from patchdiff.open_cycles o where o.target_file_id = pg_temp.id('mine')$$,
    $$select 'mine.txt'::text, (s.answer ->> 'new_editing_cycle_id')::uuid, 1::bigint, 2::bigint, 1::bigint, 1::bigint,
             l.created_at
      from saved as s cross join pg_temp.recorded(4) as l$$,
    'what was edited since the save'
);
select results_eq(
    $$select o.opened_version, o.version, o.edits, o.changes, o.last_edit_at
      from patchdiff.open_cycles o where o.target_file_id = pg_temp.id('other')$$,
    $$values (0::bigint, 0::bigint, 0::bigint, 0::bigint, null::timestamptz)$$,
    'rejected attempts are no edits'
);
select results_eq(
    $$select o.opened_at from patchdiff.open_cycles o where o.target_file_id = pg_temp.id('fresh')$$,
    $$select t.created_at from patchdiff.cloud_target_files t where t.target_file_id = pg_temp.id('fresh')$$,
    'open since the target was made'
);
select is(
    (select count(*) from patchdiff.editing_cycles as c where c.target_file_id = pg_temp.id('mine')), 2::bigint,
    'the closed one is not shown'
);

select * from finish();
rollback;
