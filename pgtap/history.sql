-- A history to be tampered with. The function tap.make_history(name) runs these statements and then lets
-- pg_temp.check_failures() call patchdiff.<name>.
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
-- What is found after a statement that is then taken back: each failure's code, with its attempt's place.
create function pg_temp.after(statement text) returns text language plpgsql as $$
declare
    v_failures jsonb;
    v_message text;
begin
    perform set_config('session_replication_role', 'replica', true);
    execute pg_temp.filled(statement);
    v_failures := pg_temp.check_failures();
    raise exception using errcode = 'ZZ001', message = v_failures;
exception
    when sqlstate 'ZZ001' then
        get stacked diagnostics v_message = message_text;
        return (
            select string_agg(
                concat_ws(' ', f.failure ->> 'code', (
                    select 'at ' || o.place from original as o
                    where o.log_sequence = (f.failure ->> 'log_sequence')::bigint
                )), ', ' order by f.n
            )
            from jsonb_array_elements(v_message::jsonb) with ordinality as f (failure, n)
        );
end
$$;
