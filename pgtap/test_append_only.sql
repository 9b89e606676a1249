-- req: LOG-045, LEDG-032, SQL-007
begin;
select plan(37);

select has_function('patchdiff', '_refuse_change', array[]::text[], 'the trigger function');
select function_returns('patchdiff', '_refuse_change', 'trigger', 'is one');
select has_trigger('patchdiff', t.name, 'append_only', t.name || ' has its trigger')
from (values ('append_only_pdcp_logs'), ('manifest_ledger')) as t (name);
select is(g.tgenabled, 'A', g.tgrelid::regclass || ': enabled always, also for a replica')
from pg_trigger as g where g.tgname = 'append_only' order by g.tgrelid::regclass::text collate "C";
select is(
    pg_get_triggerdef(g.oid),
    format(
        'CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON %s FOR EACH STATEMENT'
        || ' EXECUTE FUNCTION patchdiff._refuse_change()',
        g.tgrelid::regclass
    ),
    g.tgrelid::regclass || ': of every change, once a statement'
)
from pg_trigger as g where g.tgname = 'append_only' order by g.tgrelid::regclass::text collate "C";

create temp table made as select patchdiff.initialize_target('f', 'text') as answer;
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version,
    before_hash, after_version, after_hash, request_envelope, request_fingerprint, pdcp_content,
    pdcp_content_hash, created_at, previous_row_hash, row_hash
)
select
    (answer ->> 'target_file_id')::uuid, 1, 'aaaaaaaa-0000-4000-8000-000000000000', 'accepted', 'patchdiff-tx/1',
    (answer ->> 'active_editing_cycle_id')::uuid, 0, 'b', 1, 'a', '{}', 'f', 'record', 'h', now(), '', 'r'
from made;
insert into patchdiff.manifest_ledger (
    target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version, after_version,
    change_index, change_id, origin, derived, created_at
)
select
    (answer ->> 'target_file_id')::uuid, 1, 'aaaaaaaa-0000-4000-8000-000000000000', 1,
    (answer ->> 'active_editing_cycle_id')::uuid, 0, 1, 1, 'chg_001', 'typed', '{}', now()
from made;

-- What becomes of a statement under a role and a replication role: its SQLSTATE, or null when it goes through.
create function pg_temp.outcome(role_name text, replication text, statement text) returns text
language plpgsql as $$
begin
    perform set_config('session_replication_role', replication, true);
    perform set_config('role', role_name, true);
    execute statement;
    perform set_config('role', 'none', true);
    perform set_config('session_replication_role', 'origin', true);
    return null;
exception
    when others then
        perform set_config('role', 'none', true);
        perform set_config('session_replication_role', 'origin', true);
        return sqlstate;
end
$$;
select is(pg_temp.outcome(r.role_name, s.replication, format(c.statement, t.name)), 'PD010', format(
    '%s by %s as %s', format(c.statement, t.name), case r.role_name when 'none' then 'a superuser' else 'the owner' end,
    s.replication
))
from (values ('append_only_pdcp_logs'), ('manifest_ledger')) as t (name)
cross join (values ('none'), ('patchdiff_owner')) as r (role_name)
cross join (values ('origin'), ('replica')) as s (replication)
cross join (
    values
    ('update patchdiff.%I set log_sequence = 2'),
    ('delete from patchdiff.%I'),
    ('truncate patchdiff.%I cascade')
) as c (statement);

select throws_ok(
    'delete from patchdiff.manifest_ledger where false', 'PD010', 'manifest_ledger is append-only: DELETE is refused',
    'a statement that would meet no row is refused too'
);
set constraints all immediate;
select throws_ok(
    'truncate patchdiff.cloud_target_files cascade', 'PD010', null,
    'and a truncation that reaches the log from elsewhere'
);
create function pg_temp.hint_of(statement text) returns text language plpgsql as $$
declare
    v_hint text;
begin
    execute statement;
    return null;
exception
    when others then
        get stacked diagnostics v_hint = pg_exception_hint;
        return v_hint;
end
$$;
select is(
    pg_temp.hint_of('delete from patchdiff.append_only_pdcp_logs'),
    'Record a new attempt instead; recorded rows stay as they are.', 'the refusal says what to do'
);
select results_eq(
    'select (select count(*) from patchdiff.append_only_pdcp_logs l where l.pdcp_content = ''record''
        and l.target_file_id in (select (answer ->> ''target_file_id'')::uuid from made)),
        (select count(*) from patchdiff.manifest_ledger m
        where m.target_file_id in (select (answer ->> ''target_file_id'')::uuid from made))',
    'values (1::bigint, 1::bigint)', 'both rows are still there'
);
select is(
    pg_temp.outcome(
        'none', 'origin', 'insert into patchdiff.append_only_pdcp_logs select l.* from patchdiff.append_only_pdcp_logs l limit 0'
    ),
    null, 'appending is what is left'
);

select * from finish();
rollback;
