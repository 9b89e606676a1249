-- req: REPL-016
begin;
select plan(2);
select is(
    patchdiff._replay_failure('record_altered', 'Why.', 7, '00000000-0000-4000-8000-000000000000'),
    '{"status": "failed", "failure_reason": "replay_protocol_invalid", "code": "record_altered", "failure_detail": "Why.",
      "log_sequence": 7, "pdcp_log_id": "00000000-0000-4000-8000-000000000000"}'::jsonb,
    'what failed, and where'
);
select is(
    patchdiff._replay_failure('snapshot_missing', 'Why.') ->> 'log_sequence', null, 'no attempt need be at fault'
);
select * from finish();
rollback;
