begin;
select plan(11);
select is(
    patchdiff._rejection_diagnostic(
        'f',
        '{"failure_reason": "context_invalid", "failure_detail": "d", "failed_change_id": "c", "code": "k",
          "validation_stage": "precondition_guard", "existing_pdcp_log_id": "x", "differing_components": []}'
    ),
    '{"format": "f", "code": "k", "existing_pdcp_log_id": "x", "differing_components": [], "retryable": false,
      "requires_new_submission": true, "validation_stage": "precondition_guard"}'::jsonb,
    'what the failure tells beside its own columns'
);
select is(
    patchdiff._rejection_diagnostic(
        'f', '{"failure_reason": "target_diverged", "code": null, "validation_stage": "precondition_guard"}'
    ),
    '{"format": "f", "retryable": true, "requires_new_submission": true, "validation_stage": "precondition_guard"}'::jsonb,
    'no code where there is none'
);
select is(
    patchdiff._rejection_diagnostic('f', jsonb_build_object('failure_reason', g.reason)) -> 'retryable',
    to_jsonb(g.retryable), g.reason
)
from (
    values
    ('span_out_of_bounds', true),
    ('span_expected_text_mismatch', true),
    ('target_version_mismatch', true),
    ('target_hash_mismatch', true),
    ('protocol_invalid', false),
    ('invalid_target_id', false),
    ('target_not_found', false)
) as g (reason, retryable);
select is(patchdiff._rejection_diagnostic('f', null), null, 'nothing has failed');
select is(
    patchdiff._rejection_diagnostic(
        'f', '{"failure_reason": "span_out_of_bounds", "buffer_length": 3, "actual_text": null}'
    ) @> '{"buffer_length": 3, "actual_text": null}',
    true,
    'nulls among the details stay'
);
select * from finish();
rollback;
