create or replace view patchdiff.accepted_changes as
select
    m.target_file_id,
    t.filename,
    m.ledger_sequence,
    m.log_sequence,
    m.created_at as recorded_at,
    l.source,
    m.before_version,
    m.after_version,
    m.change_index,
    m.change_id,
    m.intent,
    m.risk,
    m.derived ->> 'operation' as operation,
    case when m.derived ->> 'span_start' ~ '^[0-9]{1,18}$' then (m.derived ->> 'span_start')::bigint end as span_start,
    case when m.derived ->> 'span_end' ~ '^[0-9]{1,18}$' then (m.derived ->> 'span_end')::bigint end as span_end,
    (
        select c.old_text
        from patchdiff.change_texts(m.target_file_id::text, m.pdcp_log_id::text, m.change_index) as c
    ) as old_text,
    (
        select c.new_text
        from patchdiff.change_texts(m.target_file_id::text, m.pdcp_log_id::text, m.change_index) as c
    ) as new_text,
    m.pdcp_log_id,
    m.editing_cycle_id
from patchdiff.manifest_ledger as m
inner join patchdiff.cloud_target_files as t on m.target_file_id = t.target_file_id
inner join patchdiff.append_only_pdcp_logs as l
    on m.target_file_id = l.target_file_id and m.pdcp_log_id = l.pdcp_log_id;

comment on view patchdiff.accepted_changes is
'Every change of every accepted attempt, with the text it replaced and the text it put there. To read a text is to open
its record: name a target and a range of ledger_sequence.';
comment on column patchdiff.accepted_changes.target_file_id is 'The target.';
comment on column patchdiff.accepted_changes.filename is 'Its file name.';
comment on column patchdiff.accepted_changes.ledger_sequence is 'Order of the changes.';
comment on column patchdiff.accepted_changes.log_sequence is 'log_sequence of the attempt.';
comment on column patchdiff.accepted_changes.recorded_at is 'When the attempt was recorded.';
comment on column patchdiff.accepted_changes.source is 'Who made the proposal, in the caller''s words.';
comment on column patchdiff.accepted_changes.before_version is 'The target''s version before the attempt.';
comment on column patchdiff.accepted_changes.after_version is 'The version that the attempt made.';
comment on column patchdiff.accepted_changes.change_index is 'One-based position of the change in its record.';
comment on column patchdiff.accepted_changes.change_id is 'The change''s name in its record.';
comment on column patchdiff.accepted_changes.intent is
'The change''s rationale where there is one, otherwise the transaction''s intent; null when nobody has read them yet.';
comment on column patchdiff.accepted_changes.risk is 'low, medium or high where the change says so, or null.';
comment on column patchdiff.accepted_changes.operation is
'span, replace_all, or null for a change that was found by its text.';
comment on column patchdiff.accepted_changes.span_start is
'First code point of the old text in the buffer that the change saw, in a batch without the
changes of other scopes; null when the fact is damaged.';
comment on column patchdiff.accepted_changes.span_end is
'The code point after its last; null when the fact is damaged.';
comment on column patchdiff.accepted_changes.old_text is
'The text that was replaced, of a whole replacement the whole text; null when the record is damaged.';
comment on column patchdiff.accepted_changes.new_text is 'The text in its place; null when the record is damaged.';
comment on column patchdiff.accepted_changes.pdcp_log_id is 'The attempt''s identity.';
comment on column patchdiff.accepted_changes.editing_cycle_id is 'The editing cycle that was open.';
