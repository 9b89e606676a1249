begin;
select plan(13);
select ok(patchdiff._verdict_admits(null, format('{"failure_reason": "%s"}', r)::jsonb, false), r || ' needs no refusal')
from unnest(array['match_absent', 'match_ambiguous', 'disambiguation_invalid', 'sequential_match_invalid',
    'span_out_of_bounds', 'span_expected_text_mismatch']) as r;
select ok(
    not patchdiff._verdict_admits(null, '{"failure_reason": "target_version_mismatch"}', false),
    'a stale guard cannot be claimed where none is'
);
select ok(
    patchdiff._verdict_admits(
        '{"outcome": "refused", "failure": {"failure_reason": "context_invalid", "code": "guard_required"}}',
        '{"failure_reason": "context_invalid", "code": "guard_required"}',
        false
    ),
    'the same refusal'
);
select ok(
    not patchdiff._verdict_admits(
        '{"outcome": "refused", "failure": {"failure_reason": "context_invalid", "code": "guard_required"}}',
        '{"failure_reason": "context_invalid", "code": "invalid_parent"}',
        false
    ),
    'the same reason with another code is another refusal'
);
select is(
    patchdiff._verdict_admits(null, format('{"failure_reason": "context_invalid", "code": "%s"}', c.code)::jsonb, c.observed)::text,
    c.expected, c.code || ' of an attempt that is ' || case when c.observed then '' else 'not ' end || 'observed'
)
from (
    values
    ('STRUCTURE_TIMEOUT', true, 'true'), ('STALE_OBSERVATION_SCOPE', true, 'true'), ('STRUCTURE_TIMEOUT', false, 'false'),
    ('OBSERVATION_ALREADY_CONSUMED', true, 'false')
) as c (code, observed, expected);
select * from finish();
rollback;
