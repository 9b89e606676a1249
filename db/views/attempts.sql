create or replace view patchdiff.attempts as
select
    l.target_file_id,
    t.filename,
    l.log_sequence,
    l.created_at as recorded_at,
    l.status,
    l.source,
    l.intent,
    l.intent_truncated,
    l.before_version,
    l.after_version,
    (
        select count(*)
        from patchdiff.manifest_ledger as m
        where m.target_file_id = l.target_file_id and m.pdcp_log_id = l.pdcp_log_id
    ) as changes,
    l.failure_reason,
    l.diagnostic_json ->> 'code' as failure_code,
    l.failure_detail,
    l.failed_change_id,
    l.pdcp_log_id,
    l.parent_pdcp_log_id,
    l.regeneration_attempt,
    l.client_request_id,
    l.protocol_version,
    l.runtime_version,
    octet_length(l.pdcp_content) as record_bytes,
    l.editing_cycle_id
from patchdiff.append_only_pdcp_logs as l
inner join patchdiff.cloud_target_files as t on l.target_file_id = t.target_file_id;

comment on view patchdiff.attempts is
'Every attempt to edit a target, accepted or rejected, with the target''s file name.';
comment on column patchdiff.attempts.target_file_id is 'The target.';
comment on column patchdiff.attempts.filename is 'Its file name.';
comment on column patchdiff.attempts.log_sequence is 'Order of the attempts: within one target that of the commits.';
comment on column patchdiff.attempts.recorded_at is 'When the attempt was recorded.';
comment on column patchdiff.attempts.status is 'accepted or rejected.';
comment on column patchdiff.attempts.source is 'Who made the proposal, in the caller''s words.';
comment on column patchdiff.attempts.intent is
'The record''s intent, at most 256 code points; null when it has none, or when nobody has read it yet.';
comment on column patchdiff.attempts.intent_truncated is
'True when the record''s intent is longer; null when nobody has read it yet.';
comment on column patchdiff.attempts.before_version is 'The target''s version at the attempt.';
comment on column patchdiff.attempts.after_version is 'The version it made; null when rejected.';
comment on column patchdiff.attempts.changes is 'How many changes it made: its rows in the ledger.';
comment on column patchdiff.attempts.failure_reason is 'Why it was rejected, one stable word; null when accepted.';
comment on column patchdiff.attempts.failure_code is
'The diagnostic''s code, where the reason has several; null when there is none.';
comment on column patchdiff.attempts.failure_detail is 'The reason in a sentence; null when accepted.';
comment on column patchdiff.attempts.failed_change_id is 'The change at fault, where one is.';
comment on column patchdiff.attempts.pdcp_log_id is 'The attempt''s identity.';
comment on column patchdiff.attempts.parent_pdcp_log_id is 'The rejected attempt that this one retries, or null.';
comment on column patchdiff.attempts.regeneration_attempt is 'One-based number of the retry, or null.';
comment on column patchdiff.attempts.client_request_id is 'The request key, or null.';
comment on column patchdiff.attempts.protocol_version is 'Format of the record, such as patchdiff-tx/1.';
comment on column patchdiff.attempts.runtime_version is 'Evaluator that judged the record.';
comment on column patchdiff.attempts.record_bytes is 'Size of the record in UTF-8 bytes.';
comment on column patchdiff.attempts.editing_cycle_id is 'The editing cycle that was open.';
