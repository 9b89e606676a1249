-- Rows that came from elsewhere may lack what the writing functions extract from a record.

alter table patchdiff.append_only_pdcp_logs
alter column intent_truncated drop not null,
alter column intent_truncated drop default;
comment on column patchdiff.append_only_pdcp_logs.intent is
'The record''s intent, at most 256 code points; null when it has none, or when intent_truncated is null.';
comment on column patchdiff.append_only_pdcp_logs.intent_truncated is
'True when the record''s intent is longer than the column; null when nobody has read the record''s intent yet.';
comment on column patchdiff.manifest_ledger.transaction_intent is
'The record''s intent, whole; null when nobody has read the record''s intents yet.';

-- attempts arrive in the order of their time: a summary of a few kilobytes finds the rows of a day
create index append_only_pdcp_logs_created_at
on patchdiff.append_only_pdcp_logs using brin (created_at);
