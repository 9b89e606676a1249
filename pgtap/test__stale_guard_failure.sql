-- req: SUBM-004, SUBM-005, SUBM-006, SUBM-009
begin;
select plan(6);
select is(
    patchdiff._stale_guard_failure('{"expected_target_version": 2, "expected_current_hash": "h"}', 2, 'h'),
    null,
    'guards that hold'
);
select is(
    patchdiff._stale_guard_failure('{"expected_target_version": 1}', 2, 'h') ->> 'failure_reason',
    'target_version_mismatch',
    'an older version'
);
select is(
    patchdiff._stale_guard_failure('{"expected_target_version": 9223372036854775807}', 2, 'h')
    ->> 'validation_stage',
    'precondition_guard',
    'a version far ahead is stale, not malformed'
);
select is(
    patchdiff._stale_guard_failure('{"expected_current_hash": "g"}', 2, 'h') ->> 'failure_reason',
    'target_hash_mismatch',
    'another hash'
);
select is(
    patchdiff._stale_guard_failure('{"expected_target_version": 2, "expected_current_hash": "g"}', 2, 'h')
    ->> 'failure_reason',
    'target_hash_mismatch',
    'a right version does not excuse a stale hash'
);
select is(
    patchdiff._stale_guard_failure('{"expected_target_version": 1, "expected_current_hash": "g"}', 2, 'h')
    ->> 'failure_reason',
    'target_version_mismatch',
    'both stale: version first'
);
select * from finish();
rollback;
