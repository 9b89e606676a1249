-- req: TX2-003
begin;
select plan(12);
create function pg_temp.span(fields jsonb default '{}') returns jsonb language sql as $$
    select '{"start": 0, "end": 0, "expected_text": "", "replace": "b"}'::jsonb || fields
$$;
create function pg_temp.failure(variadic spans jsonb []) returns jsonb language sql as $$
    select patchdiff._spans_shape_failure('i', to_jsonb(spans))
$$;
select is(pg_temp.failure(pg_temp.span()), null, 'one span');
select is(pg_temp.failure(pg_temp.span(), pg_temp.span('{"change_id": "c"}'), pg_temp.span()), null, 'three spans');
select is(
    patchdiff._spans_shape_failure(null, '[]'),
    '{"failure_reason": "protocol_invalid", "code": null, "validation_stage": "protocol_validation",
      "failure_detail": "intent must be a string."}'::jsonb,
    'intent is judged first'
);
select is(
    patchdiff._spans_shape_failure('', g.spans::jsonb) ->> 'failure_detail',
    'spans must be a non-empty array of span objects.', coalesce(g.spans, 'nothing')
)
from (values (null), ('null'), ('[]'), ('{}'), ('"span"')) as g (spans);
select is(
    pg_temp.failure(pg_temp.span(), pg_temp.span('{"replace": 1}'), '5') ->> 'failed_change_id', 'chg_002',
    'the first span at fault is named'
);
select is(
    pg_temp.failure(pg_temp.span('{"change_id": "c"}'), pg_temp.span('{"change_id": "c"}'), pg_temp.span('5'))
    ->> 'failure_detail',
    'spans[2] must be an object.',
    'shape comes before equal change ids'
);
select is(
    pg_temp.failure(pg_temp.span('{"change_id": "chg_002"}'), pg_temp.span()) - 'code' - 'validation_stage',
    '{"failure_reason": "protocol_invalid", "failed_change_id": "chg_002", "failure_detail":
      "spans[1] has the change_id of an earlier span: change ids must differ, the default ones by position (chg_001, chg_002) included."}'::jsonb,
    'a default id counts'
);
select is(
    pg_temp.failure(
        pg_temp.span('{"change_id": "b"}'), pg_temp.span('{"change_id": "a"}'), pg_temp.span('{"change_id": "b"}'),
        pg_temp.span('{"change_id": "a"}')
    ) ->> 'failed_change_id',
    'b',
    'the first repetition is named'
);
select * from finish();
rollback;
