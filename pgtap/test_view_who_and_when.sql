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

select has_view('patchdiff', 'who_and_when', 'the view');
select columns_are(
    'patchdiff', 'who_and_when',
    array[
        'target_file_id', 'filename', 'source', 'first_at', 'last_at',
        'accepted', 'rejected'
    ],
    'its columns'
);

select results_eq(
    $$select w.filename, w.source, w.accepted, w.rejected from patchdiff.who_and_when w
      where w.target_file_id = pg_temp.id('mine') order by w.source$$,
    $$values ('mine.txt', 'ann', 2::bigint, 0::bigint), ('mine.txt', 'ben', 0, 2)$$,
    'one row for each source'
);
select results_eq(
    $$select w.first_at, w.last_at from patchdiff.who_and_when w
      where w.target_file_id = pg_temp.id('mine') order by w.source$$,
    $$select f.created_at, l.created_at from (values (1, 4), (2, 3)) as p (first, last)
      cross join lateral pg_temp.recorded(p.first) as f cross join lateral pg_temp.recorded(p.last) as l$$,
    'from the first attempt to the last'
);
select results_eq(
    $$select w.source, w.accepted, w.rejected from patchdiff.who_and_when w
      where w.target_file_id = pg_temp.id('other')$$,
    $$values ('ann', 0::bigint, 1::bigint)$$,
    'targets are counted apart'
);
insert into submitted select 6, patchdiff.reject_attempt(
    pg_temp.id('fresh')::text, 0, encode(sha256(E'alpha beta\n'), 'hex'), 'patchdiff-tx/1', '{}',
    '{"source": 7, "expected_target_version": 0}',
    '{"failure_reason": "context_invalid", "failure_detail": "d", "code": "invalid_source"}',
    '{"retryable": false, "validation_stage": "precondition_guard", "code": "invalid_source"}'
);
select results_eq(
    $$select w.source, w.accepted, w.rejected from patchdiff.who_and_when w
      where w.target_file_id = pg_temp.id('fresh')$$,
    $$values (null::text, 0::bigint, 1::bigint)$$,
    'an unusable source is null'
);

select * from finish();
rollback;
