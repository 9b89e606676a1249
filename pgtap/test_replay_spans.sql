-- req: REPL-002, REPL-003, REPL-004, REPL-005, REPL-006, REPL-007, REPL-011, REPL-012, REPL-013, REPL-014, REPL-015
-- req: REPL-016, REPL-018, REPL-021, REPL-022, REPL-023, SQL-014
begin;
select plan(28);
select has_function('patchdiff', 'replay_spans', array['text'], 'takes the target alone');
select function_privs_are(
    'patchdiff', 'replay_spans', array['text'], 'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
create temp table made as
select
    patchdiff.initialize_target('f', E'zero\n') ->> 'target_file_id' as target,
    patchdiff.initialize_target('g', '') ->> 'target_file_id' as fresh;
select patchdiff.submit_replacement(m.target, 'i', n.text, expected_target_version => n.version) ->> 'status' as submitted
from made as m cross join (values ('one', 0), ('rejected', 0), (E'two\n', 1)) as n (text, version);

-- sha256 of the empty text and of 'two' with a line feed
select is(
    patchdiff.replay_spans(m.fresh),
    jsonb_build_object(
        'status', 'success', 'target_file_id', m.fresh,
        'reconstructed_hash', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        'current_hash', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        'reconstructed_version', 0, 'current_version', 0, 'accepted_transactions_replayed', 0,
        'materialized_state_matches', true,
        'materialized_state_checks', '{"content_matches": true, "stored_hash_matches": true,
                                       "recomputed_hash_matches": true, "version_matches": true}'::jsonb
    ),
    'a fresh target'
) from made as m;
select is(
    patchdiff.replay_spans(m.target) - 'materialized_state_checks',
    jsonb_build_object(
        'status', 'success', 'target_file_id', m.target,
        'reconstructed_hash', '27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a',
        'current_hash', '27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a',
        'reconstructed_version', 2, 'current_version', 2, 'accepted_transactions_replayed', 2,
        'materialized_state_matches', true
    ),
    'accepted attempts are replayed, rejected ones are not'
) from made as m;
select is(patchdiff.replay_spans(i.id) ->> 'status', i.status, i.what)
from (
    values
    ('00000000-0000-4000-8000-000000000000', 'not_found', 'an unknown target'), ('x', 'invalid_argument', 'no id'),
    (null, 'invalid_argument', 'null')
) as i (id, status, what);
select is(patchdiff.replay_spans('x') ->> 'code', 'invalid_target_id', 'with its code');

alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
-- which checks do not hold, or the failure
create function pg_temp.verdict() returns text language sql as $$
    select case r.answer ->> 'status'
        when 'failed' then r.answer ->> 'failure_reason' || ' ' || (r.answer ->> 'code')
        else (r.answer ->> 'materialized_state_matches') || coalesce((
            select string_agg(' ' || c.key, '' order by c.key)
            from jsonb_each(r.answer -> 'materialized_state_checks') as c where c.value = 'false'
        ), '')
    end
    from made as m
    cross join lateral patchdiff.replay_spans(m.target) as r (answer)
$$;
-- one target's rows under their tables' names, to be tampered with
create temp view cloud_target_files as
select t.* from patchdiff.cloud_target_files as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view target_snapshots as
select t.* from patchdiff.target_snapshots as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view append_only_pdcp_logs as
select t.* from patchdiff.append_only_pdcp_logs as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view manifest_ledger as
select t.* from patchdiff.manifest_ledger as t where t.target_file_id = (select m.target::uuid from made as m);
create function pg_temp.after(change text) returns text language plpgsql as $$
declare
    v_before text;
    v_after text;
    v_verdict text;
begin
    execute change;
    v_before := (select array_agg(t.xmin::text || t.ctid::text) from patchdiff.cloud_target_files as t);
    v_verdict := pg_temp.verdict();
    v_after := (select array_agg(t.xmin::text || t.ctid::text) from patchdiff.cloud_target_files as t);
    raise exception using message = v_verdict || case when v_after = v_before then '' else ' and wrote' end;
exception
    when raise_exception then
        return sqlerrm;
end
$$;
select is(pg_temp.after('select 1'), 'true', 'nothing altered');
select is(pg_temp.after('update pg_temp.' || c.change), c.expected, c.change)
from (
    values
    ($$cloud_target_files set current_content = E'twO\n'$$, 'false content_matches recomputed_hash_matches'),
    ($$cloud_target_files set current_content = E'two\r\n'$$, 'false content_matches'),
    ($$cloud_target_files set current_hash = repeat('0', 64)$$, 'false stored_hash_matches'),
    ('cloud_target_files set version = 5', 'false version_matches'),
    ('cloud_target_files set source_line_endings = null', 'true'),
    ($$append_only_pdcp_logs set diagnostic_json = '{"warnings": ["x"]}'$$, 'true'),
    ($$append_only_pdcp_logs set pdcp_content = pdcp_content || ' ' where after_version = 1$$,
     'replay_protocol_invalid record_altered'),
    ($$append_only_pdcp_logs set runtime_version = 'patchdiff-mvp-0.2.2' where after_version = 1$$,
     'replay_protocol_invalid unsupported_runtime'),
    ($$manifest_ledger set derived = derived || '{"span_start": 1}' where after_version = 2$$,
     'replay_protocol_invalid record_not_applicable'),
    ($$manifest_ledger set derived = derived || '{"span_end": 1}' where after_version = 2$$,
     'replay_protocol_invalid ledger_altered'),
    ($$manifest_ledger set derived = '[]'$$, 'replay_protocol_invalid ledger_altered'),
    ($$target_snapshots set content = 'x'$$, 'replay_protocol_invalid snapshot_altered'),
    ('append_only_pdcp_logs set after_version = after_version + 100 where after_version = 1',
     'replay_protocol_invalid record_missing'),
    ($$append_only_pdcp_logs set status = 'rejected', after_version = null, after_hash = null, failure_reason = 'x'
       where after_version = 1$$, 'replay_protocol_invalid record_missing')
) as c (change, expected);
select is(pg_temp.after('delete from pg_temp.' || c.change), c.expected, c.change)
from (
    values
    ('manifest_ledger where after_version = 2', 'replay_protocol_invalid ledger_altered'),
    ($$append_only_pdcp_logs where status = 'rejected'$$, 'replay_protocol_invalid record_missing'),
    ('target_snapshots', 'replay_protocol_invalid snapshot_missing')
) as c (change, expected);
select is(
    pg_temp.after($$
        delete from pg_temp.manifest_ledger where after_version = 2;
        delete from pg_temp.append_only_pdcp_logs where after_version = 2
    $$),
    'replay_protocol_invalid record_missing', 'the newest attempt is gone without a trace but the target''s own'
);
update pg_temp.append_only_pdcp_logs set pdcp_content = 'x' where after_version = 2;
select is(
    (patchdiff.replay_spans(m.target) ->> 'pdcp_log_id')::uuid,
    (select l.pdcp_log_id from patchdiff.append_only_pdcp_logs as l where l.after_version = 2 and l.target_file_id = m.target::uuid),
    'a failure names the attempt at fault'
) from made as m;
select * from finish();
rollback;
