begin;
select plan(1);
select is(
    patchdiff._request_failure('r', null, 's', 'd'),
    '{"failure_reason": "r", "code": null, "validation_stage": "s", "failure_detail": "d"}'::jsonb,
    'puts its arguments under the names of a failure'
);
select * from finish();
rollback;
