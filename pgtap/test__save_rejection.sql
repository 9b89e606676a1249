-- req: SAVE-012
begin;
select plan(2);
select is(
    patchdiff._save_rejection(
        '00000000-0000-4000-8000-000000000001', 'h', 3, '{"failure_reason": "r", "code": "c", "failure_detail": "d"}'
    ),
    '{"status": "rejected", "failure_reason": "r", "code": "c", "failure_detail": "d",
      "target_file_id": "00000000-0000-4000-8000-000000000001", "snapshot_id": null, "closed_editing_cycle_id": null,
      "new_editing_cycle_id": null, "current_hash": "h", "version": 3}'::jsonb,
    'the failure with the fields of a save, ids unset'
);
select is(
    patchdiff._save_rejection('00000000-0000-4000-8000-000000000001', 'h', 3, '{"status": "saved", "version": 9}')
    - array['target_file_id', 'snapshot_id', 'closed_editing_cycle_id', 'new_editing_cycle_id', 'current_hash'],
    '{"status": "rejected", "version": 3}'::jsonb,
    'a failure cannot speak for the target'
);
select * from finish();
rollback;
