begin;
select plan(9);
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

select has_view('patchdiff', 'attempts', 'the view');
select columns_are(
    'patchdiff', 'attempts',
    array[
        'target_file_id', 'filename', 'log_sequence', 'recorded_at', 'status',
        'source', 'intent', 'intent_truncated', 'before_version', 'after_version',
        'changes', 'failure_reason', 'failure_code', 'failure_detail', 'failed_change_id',
        'pdcp_log_id', 'parent_pdcp_log_id', 'regeneration_attempt', 'client_request_id', 'protocol_version',
        'runtime_version', 'record_bytes', 'editing_cycle_id'
    ],
    'its columns'
);

select results_eq(
    $$select a.filename, a.status, a.source, a.before_version, a.after_version, a.changes, a.failure_reason,
             a.failure_code,
             a.failed_change_id
      from patchdiff.attempts a where a.target_file_id = pg_temp.id('mine') order by a.log_sequence$$,
    $$values
      ('mine.txt', 'accepted', 'ann', 0::bigint, 1::bigint, 2::bigint, null::text, null::text, null::text),
      ('mine.txt', 'rejected', 'ben', 1, null, 0, 'span_expected_text_mismatch', null, 'chg_001'),
      ('mine.txt', 'rejected', 'ben', 1, null, 0, 'context_invalid', 'guard_required', null),
      ('mine.txt', 'accepted', 'ann', 1, 2, 1, null, null, null)$$,
    'accepted and rejected attempts in their order'
);
select is(
    array(
        select a.pdcp_log_id from patchdiff.attempts as a
        where a.target_file_id = pg_temp.id('mine') order by a.log_sequence
    ),
    array[pg_temp.log_id(1), pg_temp.log_id(2), pg_temp.log_id(3), pg_temp.log_id(4)], 'by their identities'
);
select is(
    array[a.intent, a.intent_truncated::text], array[left(repeat('long ', 60), 256), 'true'], 'a long intent is cut'
) from patchdiff.attempts as a where a.target_file_id = pg_temp.id('mine') and a.pdcp_log_id = pg_temp.log_id(2);
select is(
    (a.parent_pdcp_log_id, a.regeneration_attempt, a.client_request_id)::text, format('(%s,2,)', pg_temp.log_id(2)),
    'a retry names its parent'
) from patchdiff.attempts as a where a.target_file_id = pg_temp.id('mine') and a.pdcp_log_id = pg_temp.log_id(3);
select is(
    (a.client_request_id, a.failure_detail, a.recorded_at, a.log_sequence, a.editing_cycle_id)::text,
    (
        select (l.client_request_id, l.failure_detail, l.created_at, l.log_sequence, l.editing_cycle_id)::text
        from pg_temp.recorded(2) as l
    ),
    'the rest is as it was recorded'
) from patchdiff.attempts as a where a.target_file_id = pg_temp.id('mine') and a.pdcp_log_id = pg_temp.log_id(2);
select is(
    (a.protocol_version, a.runtime_version, a.record_bytes)::text,
    '(patchdiff-tx/3,patchdiff-mvp-0.4.0,' || length(
        '{"protocol":"patchdiff-tx/3","intent":"whole","replacement":"end\n"}'
    ) || ')',
    'format, evaluator and size'
) from patchdiff.attempts as a where a.target_file_id = pg_temp.id('mine') and a.pdcp_log_id = pg_temp.log_id(4);
select is_empty(
    $$select * from patchdiff.attempts a where a.target_file_id = pg_temp.id('fresh')$$, 'a target without attempts'
);

select * from finish();
rollback;
