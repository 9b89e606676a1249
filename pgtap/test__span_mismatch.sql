-- req: TX2-036, TX2-037, TX2-038, TX2-039
begin;
select plan(7);
-- 70 characters of three bytes, then 70 of one
create function pg_temp.mismatch(span_check text, actual_start bigint, actual_end bigint) returns jsonb
language sql as $$
    select patchdiff._span_mismatch(
        convert_to(repeat(E'\u4E2D', 70) || repeat('x', 70), 'UTF8'), 140, span_check, 'abc', 70, 210,
        actual_start, actual_end
    )
$$;
select is(
    pg_temp.mismatch('expected_text', 68, 72),
    jsonb_build_object(
        'failure_reason', 'span_expected_text_mismatch',
        'code', null,
        'validation_stage', 'transaction_applicability',
        'failure_detail', 'The text of the span''s expected_text is not what stands there.',
        'span_check', 'expected_text',
        'buffer_length', 140,
        'actual_text', E'\u4E2D\u4E2Dxx',
        'actual_text_truncated', false,
        'expected_chars', 3,
        'actual_chars', 4
    ),
    'says what stands there'
);
select is(
    pg_temp.mismatch('expected_text', 60, 124) ->> 'actual_text', repeat(E'\u4E2D', 10) || repeat('x', 54),
    '64 code points are whole'
);
select is(
    pg_temp.mismatch('expected_text', 60, 124) -> 'actual_text_truncated', 'false'::jsonb, 'and are not said to be cut'
);
select is(
    pg_temp.mismatch('expected_after', 60, 125) ->> 'actual_text', repeat(E'\u4E2D', 10) || repeat('x', 54),
    'of 65 the first 64 are shown'
);
select is(
    pg_temp.mismatch('expected_before', 60, 125) ->> 'actual_text', repeat(E'\u4E2D', 9) || repeat('x', 55),
    'before a span the last 64'
);
select is(
    pg_temp.mismatch('expected_before', 60, 125) @> '{"actual_text_truncated": true, "actual_chars": 65}', true,
    'with the length of the whole'
);
select is(
    pg_temp.mismatch('expected_after', 140, 140) @> '{"actual_text": "", "actual_chars": 0}', true, 'nothing is there'
);
select * from finish();
rollback;
