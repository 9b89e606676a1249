begin;
select plan(2);
create temp table made on commit drop as
select patchdiff.initialize_target('f', 'abc') ->> 'target_file_id' as target;
create temp table attempt on commit drop as
select patchdiff.submit_spans(
    m.target, 'i', '[{"start": 2, "end": 3, "expected_text": "c", "replace": "z"},
                    {"start": 0, "end": 1, "expected_text": "a", "replace": "xy"}]', 0
) as answer from made as m;
select is(
    patchdiff._ledger_facts(m.target::uuid, (a.answer ->> 'pdcp_log_id')::uuid),
    a.answer -> 'evidence' -> 'changes', 'the facts that the submission was answered with, in order'
) from made as m, attempt as a;
select is(
    patchdiff._ledger_facts(m.target::uuid, '00000000-0000-4000-8000-000000000000'), '[]', 'none where there are none'
) from made as m;
select * from finish();
rollback;
