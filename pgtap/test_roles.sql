-- req: SQL-006, SQL-008, SQL-009
begin;
select plan(37);

create temp table made as select patchdiff.initialize_target('f', E'text\n') ->> 'target_file_id' as id;
-- What a role gets from a statement: its first value as text, or its SQLSTATE.
create function pg_temp.as_role(role_name text, statement text) returns text language plpgsql as $$
declare
    v_target text := (select m.id from made as m);
    v_answer text;
begin
    perform set_config('role', role_name, true);
    execute statement into v_answer using v_target;
    perform set_config('role', 'none', true);
    return v_answer;
exception
    when others then
        perform set_config('role', 'none', true);
        return sqlstate;
end
$$;

select is(pg_temp.as_role(r.role_name, format('select patchdiff.%s', c.call)), c.expected, r.role_name || ': ' || c.call)
from (values ('patchdiff_editor'), ('patchdiff_reader')) as r (role_name)
cross join (
    values
    ($$get_target($1) ->> 'current_content'$$, E'text\n'),
    ($$export_target($1, 'crlf') ->> 'content'$$, E'text\r\n'),
    ($$read_target($1, 1, 2) ->> 'text'$$, 'ex'),
    ($$read_lines($1, include_line_starts => true) ->> 'total_lines'$$, '2'),
    ($$get_pdcp_log($1, include_content => true) ->> 'entries'$$, '[]'),
    ($$get_manifest_ledger($1) ->> 'entries'$$, '[]'),
    ($$replay_spans($1) ->> 'status'$$, 'success'),
    ($$content_at($1, 0)$$, E'text\n'),
    ($$schema_version() ->> 'functions_sha256' = 'x'$$, 'false')
) as c (call, expected);
select is(
    pg_temp.as_role('patchdiff_editor', $$select patchdiff.initialize_target('f', 'x') ->> 'status'$$), 'ok',
    'the editor makes a target'
);
select is(
    pg_temp.as_role('patchdiff_reader', $$select patchdiff.initialize_target('f', 'x') ->> 'status'$$), '42501',
    'the reader does not'
);
select is(
    pg_temp.as_role('patchdiff_editor', $$select patchdiff.save($1) ->> 'status'$$), 'saved', 'the editor saves'
);
select is(
    pg_temp.as_role('patchdiff_reader', $$select patchdiff.save($1) ->> 'status'$$), '42501', 'the reader does not'
);
select is(
    pg_temp.as_role('patchdiff_editor', $$select patchdiff._sha256_hex('x')$$), '42501', 'private functions are closed'
);
select is(pg_temp.as_role(r.role_name, c.statement), '42501', r.role_name || ' may not: ' || c.statement)
from (values ('patchdiff_editor'), ('patchdiff_reader')) as r (role_name)
cross join (
    values
    ('select count(*) from patchdiff.cloud_target_files'),
    ('update patchdiff.cloud_target_files set version = 7'),
    ($$select nextval('patchdiff.log_sequence')$$),
    ('create table patchdiff.x (y integer)')
) as c (statement);

select is(pg_temp.as_role(r.role_name, 'select ' || c.call), case r.role_name when 'patchdiff_editor' then c.expected else '42501' end,
    r.role_name || ': ' || c.call)
from (values ('patchdiff_editor'), ('patchdiff_reader')) as r (role_name)
cross join (
    values
    ($$o.current_content from patchdiff.open_observation($1) as o$$, E'text\n'),
    ($$patchdiff.issue_observations($1, 0, encode(sha256(convert_to(E'text\n', 'UTF8')), 'hex'), 'e', 'l',
        '[{"name": "n", "kind": "k", "start": 0, "end": 4}]') ->> 'outcome'$$, 'issued'),
    ($$patchdiff.observed_page($1, 'x', 'e') ->> 'code'$$, 'INVALID_OBSERVATION_ID')
) as c (call, expected);
select * from finish();
rollback;
