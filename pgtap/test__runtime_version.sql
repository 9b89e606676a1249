-- req: TX1-035
begin;
select plan(2);
select is(patchdiff._runtime_version('patchdiff-tx/1'), 'patchdiff-mvp-0.2.2', 'typed edits');
select is(patchdiff._runtime_version('patchdiff-invalid-input/1'), null, 'evidence has no evaluator');
select * from finish();
rollback;
