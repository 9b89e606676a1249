begin;
select plan(13);
create function pg_temp.checked(failure text, diagnostic text) returns text language sql as $$
    select patchdiff._check_rejection(checked.failure::jsonb, checked.diagnostic::jsonb)::text
$$;
select is(pg_temp.checked(
    '{"failure_reason": "match_absent", "failure_detail": "d", "failed_change_id": null}',
    '{"retryable": true, "validation_stage": "precondition_guard"}'
), '', 'what every rejection has');
select throws_ok(
    format('select pg_temp.checked(%L, %L)', f, '{"retryable": true, "validation_stage": "precondition_guard"}'), 'PD022', null,
    'failure: ' || coalesce(left(f, 60), 'null')
)
from unnest(array[
    null, '[]', '5', '{}', '{"failure_reason": null, "failure_detail": "d"}', '{"failure_reason": "r"}',
    '{"failure_reason": "r", "failure_detail": "d", "failed_change_id": {"a": 1}}',
    '{"failure_reason": "r", "failure_detail": "' || repeat('x', 2001) || '"}'
]) as f;
select throws_ok(
    format('select pg_temp.checked(%L, %L)', '{"failure_reason": "r", "failure_detail": "d"}', d), 'PD022', null,
    'diagnostic: ' || coalesce(d, 'null')
)
from unnest(array[null, '[]', '{"validation_stage": "s"}', '{"retryable": 1, "validation_stage": "s"}']) as d;
select * from finish();
rollback;
