-- req: TX2-004
begin;
select plan(6);
create function pg_temp.answer(attempt jsonb, target jsonb default '{"version": 5, "current_hash": "now"}')
returns jsonb language sql as $$
    select patchdiff._submission_answer('t', attempt, target, true, 'k')
$$;
select is(
    pg_temp.answer(
        '{"status": "accepted", "pdcp_log_id": "l", "before_hash": "b", "after_version": 3, "after_hash": "a",
          "failure_reason": null, "failure_detail": null, "failed_change_id": null, "diagnostic": null,
          "changes": [{"change_id": "x"}, {"change_id": "y"}]}'
    ),
    '{"status": "accepted", "target_file_id": "t", "before_hash": "b", "after_hash": "a", "version": 3,
      "current_version": 5, "current_hash": "now", "pdcp_log_id": "l", "manifest_entries_added": 2, "warnings": [],
      "warning_details": [], "warning_count": 0, "warnings_truncated": false, "validity": {"protocol_valid": true,
      "transaction_valid": true, "task_correct": "not_evaluated", "semantic": "not_evaluated"},
      "evidence": {"changes": [{"change_id": "x"}, {"change_id": "y"}]}, "deduplicated": true,
      "client_request_id": "k"}'::jsonb,
    'an accepted attempt'
);
select is(
    pg_temp.answer(
        '{"status": "accepted", "changes": [], "diagnostic": {"warnings": [{"code": "no_op_change", "detail": "a: b"},
          {"code": "no_op_transaction", "detail": "c"}], "warning_count": 7, "warnings_truncated": true}}'
    ) @> '{"warnings": ["no_op_change: a: b", "no_op_transaction: c"], "warning_count": 7, "warnings_truncated": true,
      "warning_details": [{"code": "no_op_change", "detail": "a: b"}, {"code": "no_op_transaction", "detail": "c"}]}',
    true,
    'with the warnings that the adapter had recorded'
);
select is(
    pg_temp.answer(
        '{"status": "rejected", "pdcp_log_id": "l", "before_hash": "b", "after_version": null, "after_hash": null,
          "failure_reason": "r", "failure_detail": "d", "failed_change_id": "c", "changes": [],
          "diagnostic": {"validation_stage": "precondition_guard", "failure_context": {"text": "a"}}}'
    ),
    '{"status": "rejected", "target_file_id": "t", "failure_reason": "r", "failure_detail": "d",
      "failed_change_id": "c", "before_hash": "b", "after_hash": null, "current_version": 5, "current_hash": "now",
      "pdcp_log_id": "l", "diagnostic": {"validation_stage": "precondition_guard", "failure_context": {"text": "a"}},
      "validity": {"protocol_valid": true, "transaction_valid": false, "task_correct": "not_evaluated",
      "semantic": "not_evaluated"}, "deduplicated": true, "client_request_id": "k"}'::jsonb,
    'a rejected one, its diagnostic as it was recorded'
);
select is(
    pg_temp.answer('{"status": "rejected", "diagnostic": {"validation_stage": "protocol_validation"}}')
    -> 'validity' -> 'protocol_valid', 'false'::jsonb, 'a proposal of the wrong shape is no valid protocol'
);
select is(
    pg_temp.answer('{"status": "rejected", "diagnostic": {"validation_stage": "protocol_validation"}}', null)
    @> '{"pdcp_log_id": null, "before_hash": null, "after_hash": null, "current_version": null, "current_hash": null}',
    true, 'without a target there is nothing of it'
);
select is(
    patchdiff._submission_answer(
        repeat('t', 1025), '{"status": "rejected", "diagnostic": {}}', null, false, repeat('k', 1025)
    ) @> '{"target_file_id": null, "client_request_id": null, "deduplicated": false}',
    true,
    'what is too long to repeat is null'
);
select * from finish();
rollback;
