-- What it says of accepted, rejected and damaged attempts: see test_get_attempt.sql.
begin;
select plan(3);
create temp table made as
select patchdiff.initialize_target('f', 'old') ->> 'target_file_id' as id;
select patchdiff.submit_replacement(id, 'i', 'new', 0) ->> 'status' as submitted from made;
create temp table attempt as
select l as whole_row from patchdiff.append_only_pdcp_logs as l inner join made as m on l.target_file_id = m.id::uuid;
select is(
    (select array_agg(k order by k) from jsonb_object_keys(patchdiff._attempt_changes(a.whole_row, true)) as k),
    array['changes', 'changes_failure', 'proposed_changes'], 'three fields'
) from attempt as a;
select is(
    patchdiff._attempt_changes(a.whole_row, true) #>> '{changes,0,old_text}', 'old', 'what a replacement replaced'
) from attempt as a;
select is(
    patchdiff._attempt_changes(a.whole_row, false) #>> '{changes,0,old_text}', null, 'only when it is asked for'
) from attempt as a;
select * from finish();
rollback;
