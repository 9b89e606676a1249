-- req: REPL-025, SQL-014
begin;
select plan(45);

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
do $$
declare
    v_check record;
begin
    for v_check in
        select k.conrelid::regclass as relation, k.conname as name from pg_constraint as k
        where k.connamespace = 'patchdiff'::regnamespace and k.contype = 'c'
            and k.conrelid in (
                'patchdiff.append_only_pdcp_logs'::regclass, 'patchdiff.manifest_ledger'::regclass,
                'patchdiff.editing_cycles'::regclass, 'patchdiff.target_snapshots'::regclass
            )
    loop
        execute format('alter table %s drop constraint %I', v_check.relation, v_check.name);
    end loop;
end
$$;

select has_function('patchdiff', 'verify_target', array['text'], 'takes the target alone');
select function_returns('patchdiff', 'verify_target', 'jsonb', 'answers one jsonb');
select volatility_is('patchdiff', 'verify_target', 'stable', 'it reads');
select is_definer('patchdiff', 'verify_target', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'verify_target', array['text'], r.name, array['EXECUTE'], r.name || ' may call it'
)
from (values ('patchdiff_editor'), ('patchdiff_reader'), ('pg_read_all_data')) as r (name);

-- SHA-256 of 'end' with a line feed
select is(
    patchdiff.verify_target(pg_temp.id()),
    jsonb_build_object(
        'status', 'intact', 'target_file_id', pg_temp.id(), 'filename', 'f', 'version', 2,
        'current_hash', encode(sha256(E'end\n'), 'hex'), 'failures', '[]'::jsonb,
        'checks', '{
            "chain": true, "replay": true, "ledger": true, "log_intents": true, "snapshots": true, "cycles": true
        }'::jsonb
    ),
    'an intact target'
);
set constraints all deferred;
create temp table fresh as select patchdiff.initialize_target('fresh', '') ->> 'target_file_id' as target;
select is(patchdiff.verify_target(f.target) ->> 'status', 'intact', 'a fresh target') from fresh as f;
set constraints all immediate;
select is(patchdiff.verify_target(i.id) - 'failure_detail', i.answer::jsonb, i.what)
from (
    values
    ('00000000-0000-4000-8000-000000000000', '{"status": "not_found"}', 'an unknown target'),
    ('x', '{"status": "invalid_argument", "code": "invalid_target_id"}', 'no id'),
    (null, '{"status": "invalid_argument", "code": "invalid_target_id"}', 'null')
) as i (id, answer, what);

-- What is found after a statement that is then taken back: the status, and the checks that failed. Read-only.
create function pg_temp.after(statement text) returns text language plpgsql as $$
declare
    v_message text;
    v_answer jsonb;
begin
    perform set_config('session_replication_role', 'replica', true);
    execute pg_temp.filled(statement);
    perform set_config('transaction_read_only', 'on', true);
    raise exception using errcode = 'ZZ001', message = patchdiff.verify_target(pg_temp.id());
exception
    when sqlstate 'ZZ001' then
        get stacked diagnostics v_message = message_text;
        v_answer := v_message;
        return (v_answer ->> 'status') || coalesce((
            select string_agg(' ' || c.key, '' order by c.key)
            from jsonb_each(v_answer -> 'checks') as c
            where c.value = 'false'
        ), '') || case
            when (select array_agg(distinct f ->> 'check') from jsonb_array_elements(v_answer -> 'failures') as f)
                is distinct from
                (
                    select array_agg(c.key order by c.key)
                    from jsonb_each(v_answer -> 'checks') as c
                    where c.value = 'false'
                )
                then ', and failures of others'
            else ''
        end;
end
$$;
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$select 1$q$,
        'intact', 'nothing'
    ),
    (
        $q$log 2: source = null$q$,
        'damaged chain', 'a column that only the chain covers'
    ),
    (
        $q$target: current_content = 'x'$q$,
        'damaged replay', 'the stored text'
    ),
    (
        $q$ledger 1.1: risk = 'high'$q$,
        'damaged ledger', 'a column that only the ledger check covers'
    ),
    (
        $q$log 2: intent = 'other'$q$,
        'damaged log_intents', 'an intent'
    ),
    (
        $q$snapshot save_checkpoint: content = 'x'$q$,
        'damaged snapshots', 'a snapshot that no replay needs'
    ),
    (
        $q$update patchdiff.editing_cycles set opened_version = 0 where target_file_id = <t>$q$,
        'damaged cycles', 'a cycle'
    ),
    (
        $q$ledger 1.1: derived = derived || '{"span_start": 7}'$q$,
        'damaged chain ledger replay', 'a recorded place'
    ),
    (
        $q$log 1: pdcp_content = 'x'$q$,
        'damaged chain ledger log_intents replay', 'a record'
    ),
    (
        $q$log 3: pdcp_content = ''$q$,
        'damaged chain ledger log_intents replay', 'an empty record'
    ),
    (
        $q$log 1: pdcp_content = repeat('[', 100000)$q$,
        'damaged chain ledger log_intents replay', 'a record nested too deep'
    ),
    (
        $q$log 1: pdcp_content = 'null'$q$,
        'damaged chain ledger log_intents replay', 'a record that is null'
    ),
    (
        $q$log 1: pdcp_content =
            '{"protocol":"patchdiff-tx/2","intent":"why","operations":[{"op":"span","start":1e400}]}'$q$,
        'damaged chain ledger replay', 'a number of another size'
    ),
    (
        $q$log 1: protocol_version = 'patchdiff-tx/9', runtime_version = ''$q$,
        'damaged chain ledger replay', 'an unknown protocol'
    ),
    (
        $q$ledger 3.1: derived = '[[]]'$q$,
        'damaged chain ledger replay', 'a fact that is none'
    ),
    (
        $q$ledger 3.1: derived = 'null'$q$,
        'damaged chain ledger replay', 'a fact that is null'
    ),
    (
        $q$log 3: created_at = 'infinity'$q$,
        'damaged chain ledger', 'a time that never comes'
    ),
    (
        $q$delete from patchdiff.manifest_ledger where target_file_id = <t>$q$,
        'damaged chain ledger replay', 'no ledger'
    ),
    (
        $q$delete from patchdiff.append_only_pdcp_logs where target_file_id = <t>$q$,
        'damaged chain ledger replay snapshots', 'no log'
    ),
    (
        $q$delete from patchdiff.target_snapshots where target_file_id = <t>$q$,
        'damaged replay snapshots', 'no snapshot'
    ),
    (
        $q$delete from patchdiff.editing_cycles where target_file_id = <t>$q$,
        'damaged cycles snapshots', 'no cycle'
    ),
    (
        $q$update patchdiff.append_only_pdcp_logs set target_file_id = (select f.target::uuid
            from fresh as f)
            where target_file_id = <t>$q$,
        'damaged chain ledger replay snapshots', 'a log given to another target'
    ),
    (
        $q$target: version = 9223372036854775807, log_head_sequence = -1, log_head_hash = ''$q$,
        'damaged chain replay', 'the target''s numbers'
    ),
    (
        $q$target: current_hash = ''$q$,
        'damaged replay', 'the stored hash'
    ),
    (
        $q$alter table patchdiff.append_only_pdcp_logs alter pdcp_content drop not null,
            alter row_hash drop not null, alter previous_row_hash drop not null,
            alter created_at drop not null, alter editing_cycle_id drop not null;
            update patchdiff.append_only_pdcp_logs set pdcp_content = null, row_hash = null,
            previous_row_hash = null, created_at = null, editing_cycle_id = null
            where target_file_id = <t>$q$,
        'damaged chain ledger log_intents replay', 'nulls where none may be'
    )
) as t (statement, expected, what);

-- it names what it found
do $$
begin
    execute pg_temp.filled(
        'log 2: intent = ''x'''
    );
end
$$;
select is(
    patchdiff.verify_target(pg_temp.id()) -> 'failures',
    jsonb_build_array(jsonb_build_object(
        'check', 'log_intents', 'code', 'intent_differs', 'log_sequence', o.log_sequence,
        'failure_detail', 'intent and intent_truncated are not what the record says.'
    )),
    'check, code, attempt and a sentence'
)
from original as o where o.place = 2;

-- nothing of the target is changed by it
create function pg_temp.everything() returns text language sql as $$
    select md5(string_agg(r.line, ' ' order by r.line)) from (
        select t.xmin || t::text as line from patchdiff.cloud_target_files as t
        union all select c.xmin || c::text from patchdiff.editing_cycles as c
        union all select s.xmin || s::text from patchdiff.target_snapshots as s
        union all select l.xmin || l::text from patchdiff.append_only_pdcp_logs as l
        union all select m.xmin || m::text from patchdiff.manifest_ledger as m
    ) as r
$$;
create temp table before as select pg_temp.everything() as state;
select is(patchdiff.verify_target(pg_temp.id()) ->> 'status', 'damaged', 'it is verified once more');
select is(pg_temp.everything(), b.state, 'and every row is what it was') from before as b;

-- what a check raises is a failure of that check
create or replace function patchdiff.verify_chain(target_file_id text) returns jsonb language plpgsql as $$
begin
    raise exception 'broken down' using errcode = 'XX001';
end
$$;
create or replace function patchdiff._sha256_hex(source text) returns text language plpgsql as $$
begin
    raise exception 'no hash' using errcode = 'XX001';
end
$$;
create or replace function patchdiff._record_intents(
    pdcp_content text, out transaction_intent text, out rationales text[]
) language plpgsql as $$
begin
    raise exception 'no intents' using errcode = 'XX001';
end
$$;
select is(
    f.failure ->> 'code', 'check_failed', f.failure ->> 'check'
) from jsonb_array_elements(patchdiff.verify_target(pg_temp.id()) -> 'failures') as f (failure)
where f.failure ->> 'check' in ('chain', 'replay', 'log_intents', 'snapshots');
select is(
    patchdiff.verify_target(pg_temp.id()) ->> 'status', 'damaged', 'and the target is not intact'
);
select * from finish();
rollback;
