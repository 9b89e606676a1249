-- req: SUBM-001, SUBM-010, SUBM-011, SUBM-012
begin;
select plan(21);
select is(patchdiff._guard_syntax_failure('{}') ->> 'code', 'guard_required', 'no guard is refused');
select is(
    patchdiff._guard_syntax_failure('{"expected_target_version": null, "expected_current_hash": null}') ->> 'code',
    'guard_required',
    'two nulls are no guard'
);
select is(patchdiff._guard_syntax_failure('{"expected_target_version": 0}'), null, 'version 0 is a guard');
select is(
    patchdiff._guard_syntax_failure('{"expected_target_version": 9223372036854775807}'),
    null,
    'the largest 64-bit integer is a guard'
);
select is(
    patchdiff._guard_syntax_failure(format('{"expected_target_version": %s}', v)::jsonb) ->> 'code',
    'invalid_expected_target_version',
    format('%s is no version', v)
) from unnest(array['9223372036854775808', '-1', '1.0', 'true', '"1"', '[1]']) as v;
select is(
    patchdiff._guard_syntax_failure(jsonb_build_object('expected_current_hash', repeat('0a', 32))),
    null,
    '64 lowercase hexadecimal digits are a guard'
);
select is(
    patchdiff._guard_syntax_failure(jsonb_build_object('expected_current_hash', h)) ->> 'code',
    'invalid_expected_current_hash',
    'no hash: ' || quote_literal(h)
) from unnest(array[
    repeat('a', 63), repeat('a', 65), repeat('A', 64), repeat('g', 64), repeat('a', 64) || E'\n'
]) as h;
select is(
    patchdiff._guard_syntax_failure('{"observation": {}}'::jsonb || g.guards) ->> 'code', g.expected,
    'observed, with ' || g.guards::text
)
from (
    values
    ('{}'::jsonb, 'guard_required'),
    ('{"expected_target_version": 0}', 'guard_required'),
    (jsonb_build_object('expected_current_hash', repeat('a', 64)), 'guard_required'),
    (jsonb_build_object('expected_current_hash', repeat('a', 64), 'expected_target_version', null), 'guard_required'),
    (jsonb_build_object('expected_current_hash', repeat('a', 64), 'expected_target_version', 0), null)
) as g (guards, expected);
select * from finish();
rollback;
