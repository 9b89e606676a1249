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

select has_view('patchdiff', 'accepted_changes', 'the view');
select columns_are(
    'patchdiff', 'accepted_changes',
    array[
        'target_file_id', 'filename', 'ledger_sequence', 'log_sequence', 'recorded_at',
        'source', 'before_version', 'after_version', 'change_index', 'change_id',
        'intent', 'risk', 'operation', 'span_start', 'span_end',
        'old_text', 'new_text', 'pdcp_log_id', 'editing_cycle_id'
    ],
    'its columns'
);

select results_eq(
    $$select c.filename, c.source, c.before_version, c.after_version, c.change_index, c.change_id, c.intent, c.risk,
             c.operation, c.span_start, c.span_end, c.old_text, c.new_text
      from patchdiff.accepted_changes c where c.target_file_id = pg_temp.id('mine') order by c.ledger_sequence$$,
    $$values
      ('mine.txt', 'ann', 0::bigint, 1::bigint, 1::bigint, 'chg_001', 'b', 'low', 'span', 6::bigint, 10::bigint,
       'beta', 'Beta'),
      ('mine.txt', 'ann', 0, 1, 2, 'chg_002', 'why', null, 'span', 0, 5, 'alpha', 'Alpha'),
      ('mine.txt', 'ann', 1, 2, 1, 'chg_001', 'whole', null, 'replace_all', 0, 11, E'Alpha Beta\n', E'end\n')$$,
    'each change with its old and new text'
);
select set_eq(
    $$select c.pdcp_log_id, c.log_sequence, c.recorded_at, c.editing_cycle_id from patchdiff.accepted_changes c
      where c.target_file_id = pg_temp.id('mine')$$,
    $$select l.pdcp_log_id, l.log_sequence, l.created_at, l.editing_cycle_id
      from generate_series(1, 4, 3) as place cross join lateral pg_temp.recorded(place) as l$$,
    'and its attempt'
);
select is_empty(
    $$select * from patchdiff.accepted_changes c where c.target_file_id = pg_temp.id('other')$$,
    'rejected attempts changed nothing'
);

-- Texts are opened for the rows that are asked for, and only when they are.
create temp sequence opened;
create or replace function patchdiff.change_texts(
    target_file_id text, pdcp_log_id text, change_index bigint, out old_text text, out new_text text
) language plpgsql stable as $$
begin
    perform nextval('opened');
end
$$;
do $$
begin
    perform count(*) from patchdiff.accepted_changes as c;
    perform c.change_id from patchdiff.accepted_changes as c;
end
$$;
select is((select o.is_called from opened as o)::text, 'false', 'no record is opened for other columns');
do $$
begin
    perform c.old_text from patchdiff.accepted_changes as c
    where c.target_file_id = pg_temp.id('mine') and c.ledger_sequence > (
        select max(m.ledger_sequence) - 1 from patchdiff.manifest_ledger as m
        where m.target_file_id = pg_temp.id('mine')
    );
end
$$;
select is((select o.last_value from opened as o)::text, '1', 'one record for one row');
do $$
begin
    perform x.new_text from (
        select c.new_text from patchdiff.accepted_changes as c
        where c.target_file_id = pg_temp.id('mine') order by c.ledger_sequence desc limit 2
    ) as x;
end
$$;
select is((select o.last_value from opened as o)::text, '3', 'two records for the newest two rows');

alter table patchdiff.manifest_ledger disable trigger append_only;
update patchdiff.manifest_ledger as m
set derived = m.derived || case m.change_index when 1 then '{"span_start": "x"}' else '{"span_start": 1e400}' end::jsonb
where m.target_file_id = pg_temp.id('mine');
select is_empty(
    $$select c.change_id from patchdiff.accepted_changes c
      where c.target_file_id = pg_temp.id('mine') and c.span_start is not null$$,
    'a damaged fact has no place, and raises nothing'
);
select * from finish();
rollback;
