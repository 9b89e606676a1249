-- req: TX1-035, TX2-040, TX2-041, TX3-004, BATCH-024
begin;
select plan(11);
select is(patchdiff._runtime_version('patchdiff-tx/1', '{}'), 'patchdiff-mvp-0.2.2', 'typed edits');
select is(patchdiff._runtime_version('patchdiff-tx/3', '{}'), 'patchdiff-mvp-0.4.0', 'a whole replacement');
select is(patchdiff._runtime_version('patchdiff-invalid-input/1', '{}'), null, 'evidence has no evaluator');
select is(
    patchdiff._runtime_version('patchdiff-tx/2', r), v, 'operations: ' || left(r, 90)
)
from (values
    ('{"operations":[{"op":"span","start":0},{"op":"match","match":"a"}]}', 'patchdiff-mvp-0.3.0'),
    ('{"operations":[{"op":"match"},{"op":"span","expected_before":null}]}', 'patchdiff-mvp-0.5.0'),
    ('{"operations":[{"op":"span","expected_after":"x"}]}', 'patchdiff-mvp-0.5.0'),
    ('{"operations":[{"op":"match","expected_after":"x"}]}', 'patchdiff-mvp-0.3.0'),
    ('{"operations":["span", 3]}', 'patchdiff-mvp-0.3.0'),
    (repeat('[', 100000), 'patchdiff-mvp-0.3.0')
) as o (r, v);
select is(
    patchdiff._runtime_version('patchdiff-observed-batch/1', r), 'patchdiff-observed-batch-r1', 'a batch: ' || r
)
from unnest(array['{}', '{"groups":[{"operations":[{"op":"span","expected_before":"x"}]}]}']) as r;
select * from finish();
rollback;
