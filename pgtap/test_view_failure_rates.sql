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

select has_view('patchdiff', 'failure_rates', 'the view');
select columns_are(
    'patchdiff', 'failure_rates',
    array[
        'target_file_id', 'filename', 'failure_reason', 'rejections', 'attempts',
        'share', 'first_at', 'last_at'
    ],
    'its columns'
);

select results_eq(
    $$select r.filename, r.failure_reason, r.rejections, r.attempts, r.share from patchdiff.failure_rates r
      where r.target_file_id = pg_temp.id('mine') order by r.failure_reason$$,
    $$values ('mine.txt', 'context_invalid', 1::bigint, 4::bigint, 0.2500),
             ('mine.txt', 'span_expected_text_mismatch', 1, 4, 0.2500)$$,
    'one row for each reason'
);
select results_eq(
    $$select r.filename, r.failure_reason, r.rejections, r.attempts, r.share from patchdiff.failure_rates r
      where r.target_file_id = pg_temp.id('other')$$,
    $$values ('other.txt', 'span_expected_text_mismatch', 1::bigint, 1::bigint, 1.0000)$$,
    'targets are counted apart'
);
select is_empty(
    $$select * from patchdiff.failure_rates r where r.target_file_id = pg_temp.id('fresh')$$, 'no attempt, no rate'
);
insert into submitted select 6, patchdiff.submit_spans(pg_temp.id('mine')::text, 'no', '[]', 2);
insert into submitted select 7, patchdiff.submit_spans(
    pg_temp.id('mine')::text, 'again', '[{"start": 0, "end": 1, "expected_text": "x", "replace": ""}]', 2
);
select results_eq(
    $$select r.rejections, r.attempts, r.share, r.first_at, r.last_at from patchdiff.failure_rates r
      where r.target_file_id = pg_temp.id('mine') and r.failure_reason = 'span_expected_text_mismatch'$$,
    $$select 2::bigint, 6::bigint, 0.3333, f.created_at, l.created_at
      from pg_temp.recorded(2) as f cross join pg_temp.recorded(7) as l$$,
    'the first and the last of a reason, and a rounded share'
);

select * from finish();
rollback;
