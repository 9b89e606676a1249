begin;
select plan(5);
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

select has_view('patchdiff', 'damaged_targets', 'the view');
select columns_are(
    'patchdiff', 'damaged_targets',
    array[
        'target_file_id', 'filename', 'check_name', 'code', 'failure_detail',
        'log_sequence'
    ],
    'its columns'
);

select is_empty(
    $$select * from patchdiff.damaged_targets d
      where d.target_file_id in (pg_temp.id('mine'), pg_temp.id('other'), pg_temp.id('fresh'))$$,
    'nothing of intact targets'
);
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
update patchdiff.append_only_pdcp_logs as l set intent = 'x', source = null
where l.target_file_id = pg_temp.id('mine') and l.pdcp_log_id = pg_temp.log_id(2);
update patchdiff.cloud_target_files as t set current_hash = '' where t.target_file_id = pg_temp.id('fresh');
select results_eq(
    $$select d.filename, d.check_name, d.code, d.log_sequence from patchdiff.damaged_targets d
      where d.target_file_id in (pg_temp.id('mine'), pg_temp.id('other'), pg_temp.id('fresh'))
      order by d.filename, d.check_name, d.code$$,
    $$select f.* from pg_temp.recorded(2) as l cross join lateral (
          values ('fresh.txt', 'replay', 'stored_hash_differs', null::bigint),
              ('fresh.txt', 'snapshots', 'history_hash_differs', null),
              ('mine.txt', 'chain', 'row_hash_differs', l.log_sequence),
              ('mine.txt', 'log_intents', 'intent_differs', l.log_sequence)
      ) as f$$,
    'one row for each failure'
);
select is(
    d.failure_detail, 'intent and intent_truncated are not what the record says.', 'with its sentence'
) from patchdiff.damaged_targets as d where d.target_file_id = pg_temp.id('mine') and d.check_name = 'log_intents';

select * from finish();
rollback;
