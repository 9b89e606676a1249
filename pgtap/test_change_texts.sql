begin;
select plan(25);

create temp table made as
select patchdiff.initialize_target('f', E'alpha beta\n') ->> 'target_file_id' as target;
create function pg_temp.id() returns text language sql as $$
    select m.target from made as m
$$;
-- 1 accepted, two changes; 2 rejected; a save; 3 accepted, the whole text; the last cycle is open
select patchdiff.submit_spans(pg_temp.id(), 'why', '[
    {"start": 6, "end": 10, "expected_text": "beta", "replace": "Beta", "rationale": "b", "risk": "low"},
    {"start": 0, "end": 5, "expected_text": "alpha", "replace": "Alpha"}]', 0) ->> 'status' as submitted;
select patchdiff.submit_spans(
    pg_temp.id(), 'no', '[{"start": 0, "end": 5, "expected_text": "alpha", "replace": ""}]', 1
) ->> 'status' as submitted;
select patchdiff.save(pg_temp.id()) ->> 'status' as saved;
select patchdiff.submit_replacement(pg_temp.id(), 'whole', E'end\n', 1) ->> 'status' as submitted;
create temp table original as
select
    l.log_sequence,
    l.pdcp_log_id,
    row_number() over (order by l.log_sequence) as place
from patchdiff.append_only_pdcp_logs as l
where l.target_file_id = pg_temp.id()::uuid;
set constraints all immediate;
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
-- Writes a statement out: "log 1: …" sets columns of the first attempt, "ledger 1.2: …" of its second change,
-- "target: …" of the target, "snapshot initial: …" and "cycle open: …" (or closed) of those; <t>, <1> and <id 1> stand
-- for the target and an attempt.
create function pg_temp.filled(statement text) returns text language plpgsql as $$
declare
    v_row record;
begin
    statement := regexp_replace(
        statement, '^log (\d): (.*)$',
        'update patchdiff.append_only_pdcp_logs set \2 where target_file_id = <t> and log_sequence = <\1>'
    );
    statement := regexp_replace(
        statement, '^ledger (\d)\.(\d): (.*)$',
        'update patchdiff.manifest_ledger set \3'
        || ' where target_file_id = <t> and log_sequence = <\1> and change_index = \2'
    );
    statement := regexp_replace(
        statement, '^target: (.*)$', 'update patchdiff.cloud_target_files set \1 where target_file_id = <t>'
    );
    statement := regexp_replace(
        statement, '^snapshot (\w+): (.*)$',
        $q$update patchdiff.target_snapshots set \2 where target_file_id = <t> and snapshot_reason = '\1'$q$
    );
    statement := regexp_replace(
        statement, '^cycle (open|closed): (.*)$',
        $q$update patchdiff.editing_cycles set \2
        where target_file_id = <t> and (closed_at is null) = ('\1' = 'open')$q$
    );
    for v_row in select o.* from original as o loop
        statement := replace(statement, '<' || v_row.place || '>', v_row.log_sequence::text);
        statement := replace(statement, '<id ' || v_row.place || '>', quote_literal(v_row.pdcp_log_id));
    end loop;
    return replace(statement, '<t>', quote_literal(pg_temp.id()));
end
$$;

select has_function('patchdiff', 'change_texts', array['text', 'text', 'bigint'], 'signature');
select is_definer('patchdiff', 'change_texts', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'change_texts', array['text', 'text', 'bigint'], r.name, array['EXECUTE'], r.name || ' may call it'
)
from (values ('patchdiff_editor'), ('patchdiff_reader'), ('pg_read_all_data')) as r (name);

create function pg_temp.texts(place bigint, change_index bigint) returns text language sql as $$
    select (c.old_text, c.new_text)::text
    from original as o
    cross join lateral patchdiff.change_texts(pg_temp.id(), o.pdcp_log_id::text, texts.change_index) as c
    where o.place = texts.place
$$;
select is(pg_temp.texts(c.place, c.change_index), c.expected, c.what)
from (
    values
    (1, 1, '(beta,Beta)', 'the first change of a record'), (1, 2, '(alpha,Alpha)', 'the second'),
    (1, 3, '(,)', 'no third'), (1, 0, '(,)', 'none before the first'), (1, -1, '(,)', 'nor from the end'),
    (1, 4294967297, '(,)', 'nor beyond the numbers of an array'), (1, null, '(,)', 'nor without a number'),
    (2, 1, '(,)', 'a rejected attempt changed nothing'),
    (3, 1, E'("Alpha Beta\n","end\n")', 'a whole replacement replaced the whole text'),
    (3, 2, '(,)', 'and nothing else')
) as c (place, change_index, expected, what);
select is((c.old_text, c.new_text)::text, '(,)', i.what)
from (
    values
    ('x', '00000000-0000-4000-8000-000000000000', 'a malformed target'),
    ('00000000-0000-4000-8000-000000000000', 'x', 'a malformed attempt'), (null, null, 'nulls')
) as i (target, attempt, what)
cross join lateral patchdiff.change_texts(i.target, i.attempt, 1) as c;
select is((c.old_text, c.new_text)::text, '(,)', 'an attempt of another target')
from original as o
cross join lateral patchdiff.change_texts('00000000-0000-4000-8000-000000000000', o.pdcp_log_id::text, 1) as c
where o.place = 1;

-- a text of an edit is shown as it was applied, with line feeds alone
create temp table edited as
select patchdiff.accept_attempt(
    pg_temp.id(), 2, encode(sha256(E'end\n'), 'hex'), 'patchdiff-tx/1',
    '{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"d\r\n","replace":"e\r"}]}',
    '{"expected_target_version": 2}', '{2}', '{2}', encode(sha256(E'ene\n'), 'hex')
) ->> 'pdcp_log_id' as pdcp_log_id;
select is((c.old_text, c.new_text)::text, E'("d\n","e\n")', 'canonical texts')
from edited as e cross join lateral patchdiff.change_texts(pg_temp.id(), e.pdcp_log_id, 1) as c;

-- damage has no text and raises nothing
create function pg_temp.altered(place bigint, content text) returns void language sql as $$
    update patchdiff.append_only_pdcp_logs as l set pdcp_content = altered.content
    where l.target_file_id = pg_temp.id()::uuid and l.log_sequence = (
        select o.log_sequence from original as o where o.place = altered.place
    )
$$;
do $$
begin
    perform pg_temp.altered(1, '{"operations": [{"op": "span"}]}');
    update patchdiff.target_snapshots as s set content = 'x' where s.target_file_id = pg_temp.id()::uuid;
end
$$;
select is(pg_temp.texts(1, 1), '(,)', 'a malformed change');
select is(pg_temp.texts(3, 1), E'(,"end\n")', 'a whole replacement after a damaged history has no old text');
do $$
begin
    perform pg_temp.altered(1, repeat('[', 100000));
    perform pg_temp.altered(3, 'x');
end
$$;
select is(pg_temp.texts(1, 1), '(,)', 'a record that is nested too deep');
select is(pg_temp.texts(3, 1), '(,)', 'a record that is none');
select is(
    (
        select count(*) from patchdiff.accepted_changes as a
        where a.target_file_id = pg_temp.id()::uuid and a.old_text is null
    ),
    3::bigint, 'the view shows the changes all the same'
);
select * from finish();
rollback;
