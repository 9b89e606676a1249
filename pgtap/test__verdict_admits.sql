begin;
select plan(9);
select ok(patchdiff._verdict_admits(null, format('{"failure_reason": "%s"}', r)::jsonb), r || ' needs no refusal')
from unnest(array['match_absent', 'match_ambiguous', 'disambiguation_invalid', 'sequential_match_invalid',
    'span_out_of_bounds', 'span_expected_text_mismatch']) as r;
select ok(
    not patchdiff._verdict_admits(null, '{"failure_reason": "target_version_mismatch"}'),
    'a stale guard cannot be claimed where none is'
);
select ok(
    patchdiff._verdict_admits(
        '{"outcome": "refused", "failure": {"failure_reason": "context_invalid", "code": "guard_required"}}',
        '{"failure_reason": "context_invalid", "code": "guard_required"}'
    ),
    'the same refusal'
);
select ok(
    not patchdiff._verdict_admits(
        '{"outcome": "refused", "failure": {"failure_reason": "context_invalid", "code": "guard_required"}}',
        '{"failure_reason": "context_invalid", "code": "invalid_parent"}'
    ),
    'the same reason with another code is another refusal'
);
select * from finish();
rollback;
