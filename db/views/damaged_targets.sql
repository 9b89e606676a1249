create or replace view patchdiff.damaged_targets as
select
    t.target_file_id,
    t.filename,
    f.failure ->> 'check' as check_name,
    f.failure ->> 'code' as code,
    f.failure ->> 'failure_detail' as failure_detail,
    (f.failure ->> 'log_sequence')::bigint as log_sequence
from patchdiff.cloud_target_files as t
cross join lateral jsonb_array_elements(
    patchdiff.verify_target(t.target_file_id::text) -> 'failures'
) as f (failure);

comment on view patchdiff.damaged_targets is
'What patchdiff.verify_target finds wrong, one row for each failure; empty when every target is intact. Reading it
verifies the targets: name one, or a few.';
comment on column patchdiff.damaged_targets.target_file_id is 'The target.';
comment on column patchdiff.damaged_targets.filename is 'Its file name.';
comment on column patchdiff.damaged_targets.check_name is
'The check that failed: chain, replay, ledger, log_intents, snapshots or cycles.';
comment on column patchdiff.damaged_targets.code is 'What is wrong, one stable word.';
comment on column patchdiff.damaged_targets.failure_detail is 'The same in a sentence.';
comment on column patchdiff.damaged_targets.log_sequence is 'The attempt that is meant, or null.';
