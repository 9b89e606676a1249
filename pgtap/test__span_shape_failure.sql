-- req: TX2-005, TX2-008, TX2-009, TX2-010, TX2-011, TX2-012, TX2-013, TX2-014, TX2-026
begin;
select plan(42);
create function pg_temp.failure(fields jsonb, without text default '') returns jsonb language sql as $$
    select patchdiff._span_shape_failure(
        ('{"start": 0, "end": 1, "expected_text": "a", "replace": "b"}'::jsonb - without) || fields, 2
    )
$$;
select is(pg_temp.failure('{}'), null, 'the four fields are enough');
select is(
    pg_temp.failure(
        '{"op": "span", "change_id": "c", "rationale": "", "risk": "high", "expected_before": "x",
          "expected_after": "y"}'
    ), null, 'every field'
);
select is(
    pg_temp.failure(
        '{"change_id": null, "rationale": null, "risk": null, "expected_before": null, "expected_after": null,
          "expected_text": "", "replace": ""}'
    ), null, 'nulls and empty texts'
);
select is(
    pg_temp.failure('{"start": 9223372036854775807, "end": 9223372036854775807}'), null, 'the largest offsets'
);
select is(
    pg_temp.failure('{"start": -1, "change_id": "c"}'),
    jsonb_build_object(
        'failure_reason', 'protocol_invalid',
        'code', null,
        'validation_stage', 'protocol_validation',
        'failure_detail', 'spans[1].start must be an integer from 0 to 9223372036854775807.',
        'failed_change_id', 'c'
    ),
    'a failure names place, bound and change'
);
select is(
    pg_temp.failure('{}', g.field) ->> 'failure_detail' like 'spans[1].' || g.field || ' must be %', true,
    'without ' || g.field
)
from (values ('start'), ('end'), ('expected_text'), ('replace')) as g (field);
select is(
    pg_temp.failure(g.fields::jsonb) ->> 'failure_detail' like 'spans[1].' || g.field || ' must %', true, g.fields
)
from (
    values
    ('op', '{"op": "match"}'),
    ('op', '{"op": null}'),
    ('op', '{"op": 1}'),
    ('change_id', '{"change_id": ""}'),
    ('change_id', '{"change_id": "a b"}'),
    ('change_id', '{"change_id": 1}'),
    ('start', '{"start": null}'),
    ('start', '{"start": true}'),
    ('start', '{"start": "0"}'),
    ('start', '{"start": 0.0}'),
    ('end', '{"end": 1.5}'),
    ('end', '{"end": false}'),
    ('end', '{"end": 9223372036854775808}'),
    ('end', '{"start": 2}'),
    ('expected_text', '{"expected_text": null}'),
    ('expected_text', '{"expected_text": 1}'),
    ('replace', '{"replace": null}'),
    ('replace', '{"replace": ["b"]}'),
    ('rationale', '{"rationale": 1}'),
    ('risk', '{"risk": "none"}'),
    ('risk', '{"risk": 1}'),
    ('expected_before', '{"expected_before": ""}'),
    ('expected_before', '{"expected_before": 1}'),
    ('expected_after', '{"expected_after": ""}'),
    ('expected_after', '{"expected_after": {}}')
) as g (field, fields);
select is(
    pg_temp.failure(jsonb_build_object(g.field, null)) ->> 'failure_detail',
    'spans[1] has a field that it may not have: "' || g.field || '".', g.field
)
from (values ('match'), ('occurrence_index'), ('anchor_before'), ('anchor_after'), ('START'))
as g (field);
select is(
    patchdiff._span_shape_failure(g.span::jsonb, 1) ->> 'failure_detail', 'spans[0] must be an object.', g.span
)
from (values ('null'), ('[]'), ('"span"')) as g (span);
select * from finish();
rollback;
