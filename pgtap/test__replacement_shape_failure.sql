-- req: TX3-002
begin;
select plan(4);
select is(patchdiff._replacement_shape_failure('', ''), null, 'empty strings are strings');
select is(
    patchdiff._replacement_shape_failure('i', null),
    '{"failure_reason": "protocol_invalid", "code": null, "validation_stage": "protocol_validation",
      "failed_change_id": "chg_001", "failure_detail": "replacement must be a string (empty is valid)."}'::jsonb,
    'a null replacement'
);
select is(
    patchdiff._replacement_shape_failure(null, '') ->> 'failure_detail', 'intent must be a string.', 'a null intent'
);
select is(
    patchdiff._replacement_shape_failure(null, null) ->> 'failure_detail', 'intent must be a string.',
    'the intent is judged first'
);
select * from finish();
rollback;
