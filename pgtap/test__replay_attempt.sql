-- req: REPL-010, REPL-017, REPL-019, REPL-023
begin;
select plan(16);
create temp table made as
select patchdiff.initialize_target('f', 'é alpha beta') ->> 'target_file_id' as target;
select patchdiff.submit_spans(
    m.target, 'i', '[{"start": 0, "end": 1, "expected_text": "é", "replace": "😀😀"},
                    {"start": 9, "end": 13, "expected_text": "beta", "replace": "B\r\n", "expected_before": "alpha "},
                    {"start": 3, "end": 8, "expected_text": "alpha", "replace": ""}]', 0
) ->> 'status' as submitted from made as m;
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
create function pg_temp.replayed(content text default 'é alpha beta') returns text language sql as $$
    select coalesce('failed: ' || (r.failure ->> 'code'), r.result)
    from made as m
    inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = m.target::uuid
    cross join lateral patchdiff._replay_attempt(l, replayed.content) as r
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
begin
    execute change;
    raise exception using message = pg_temp.replayed();
exception
    when raise_exception then
        return sqlerrm;
end
$$;
select is(pg_temp.replayed(), E'😀😀  B\n', 'the text that the attempt had made, over code points');
select is(pg_temp.replayed('é alpha bete'), 'failed: record_not_applicable', 'another text');
select is(pg_temp.replayed(''), 'failed: record_not_applicable', 'no text');
select is(pg_temp.after('update pg_temp.' || c.change), c.expected, c.change)
from (
    values
    ('append_only_pdcp_logs set diagnostic_json = ''{"x": 1}'', source = null, intent = null', E'😀😀  B\n'),
    ($$append_only_pdcp_logs set pdcp_content = replace(pdcp_content, 'beta', 'bete')$$, 'failed: record_altered'),
    ($$append_only_pdcp_logs set pdcp_content_hash = 'x'$$, 'failed: record_altered'),
    ($$append_only_pdcp_logs set pdcp_content = '[', pdcp_content_hash = patchdiff._sha256_hex('[')$$,
     'failed: record_altered'),
    ($$append_only_pdcp_logs set pdcp_content = replace(pdcp_content, 'B\r\n', 'C'),
       pdcp_content_hash = patchdiff._sha256_hex(replace(pdcp_content, 'B\r\n', 'C'))$$, 'failed: ledger_altered'),
    ($$append_only_pdcp_logs set after_hash = 'x'$$, 'failed: result_differs'),
    ($$append_only_pdcp_logs set runtime_version = 'patchdiff-mvp-0.3.0'$$, 'failed: unsupported_runtime'),
    ($$append_only_pdcp_logs set runtime_version = null$$, 'failed: unsupported_runtime'),
    ($$append_only_pdcp_logs set protocol_version = 'patchdiff-tx/9'$$, 'failed: unsupported_runtime'),
    ($$manifest_ledger set derived = derived || '{"span_start": 1}' where change_index = 1$$,
     'failed: record_not_applicable'),
    ($$manifest_ledger set derived = derived || '{"span_start": "x"}'$$, 'failed: ledger_altered'),
    ($$manifest_ledger set derived = derived || '{"matched_sha256": "x"}' where change_index = 2$$,
     'failed: ledger_altered')
) as c (change, expected);
select is(pg_temp.after('delete from pg_temp.manifest_ledger where change_index = 3'), 'failed: ledger_altered', 'a missing row');
select * from finish();
rollback;
