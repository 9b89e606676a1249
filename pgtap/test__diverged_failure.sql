begin;
select plan(1);
select is(
    patchdiff._diverged_failure() - 'failure_detail',
    '{"failure_reason": "target_diverged", "code": null, "validation_stage": "precondition_guard"}'::jsonb,
    'one failure for every write to such a target'
);
select * from finish();
rollback;
