-- req: SUBM-018, SUBM-019
begin;
select plan(6);
select is(
    patchdiff._no_target_outcome(null, '{}', null) -> 'failure' ->> 'failure_reason',
    'invalid_target_id',
    'a malformed id'
);
select is(
    patchdiff._no_target_outcome(gen_random_uuid(), '{}', null) -> 'failure' ->> 'failure_reason',
    'target_not_found',
    'an unknown one'
);
select is(
    patchdiff._no_target_outcome(gen_random_uuid(), '{}', null) ->> 'missing', 'target_not_found', 'and why in short'
);
select is(
    patchdiff._no_target_outcome(null, '{"client_request_id": ""}', null) -> 'failure' ->> 'code',
    'invalid_client_request_id',
    'the key''s syntax is judged before the target'
);
select is(
    patchdiff._no_target_outcome(
        null, '{"client_request_id": ""}', '{"failure_reason": "target_encoding_invalid"}'
    ) -> 'failure' ->> 'failure_reason',
    'target_encoding_invalid',
    'invalid text before both'
);
select is(
    patchdiff._no_target_outcome(null, '{}', '{"failure_reason": "protocol_invalid"}')
    -> 'failure' ->> 'failure_reason',
    'invalid_target_id',
    'the target before the shape'
);
select * from finish();
rollback;
