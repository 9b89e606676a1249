begin;
select plan(11);
select is(
    patchdiff._receipt_refusal(c.code) - 'failure_detail',
    jsonb_build_object('failure_reason', 'context_invalid', 'code', c.code, 'validation_stage', 'precondition_guard'), c.code
)
from (
    values
    ('OBSERVATION_REQUIRED'), ('INVALID_OBSERVATION_ID'), ('UNKNOWN_OBSERVATION_ID'), ('OBSERVATION_TARGET_MISMATCH'),
    ('OBSERVATION_NOT_IN_BUNDLE'), ('OBSERVATION_CYCLE_MISMATCH'), ('OBSERVATION_ALREADY_CONSUMED'),
    ('STALE_OBSERVATION_VERSION'), ('STALE_OBSERVATION_HASH'), ('STALE_OBSERVATION_ENGINE')
) as c (code);
select isnt(
    patchdiff._receipt_refusal('STALE_OBSERVATION_HASH') ->> 'failure_detail', null, 'each says what to do'
);
select * from finish();
rollback;
