create or replace view patchdiff.who_and_when as
select
    s.target_file_id,
    t.filename,
    s.source,
    s.first_at,
    s.last_at,
    s.accepted,
    s.rejected
from (
    select
        l.target_file_id,
        l.source,
        min(l.created_at) as first_at,
        max(l.created_at) as last_at,
        count(*) filter (where l.status = 'accepted') as accepted,
        count(*) filter (where l.status = 'rejected') as rejected
    from patchdiff.append_only_pdcp_logs as l
    group by l.target_file_id, l.source
) as s
inner join patchdiff.cloud_target_files as t on s.target_file_id = t.target_file_id;

comment on view patchdiff.who_and_when is
'Who made proposals for each target, and when: one row for each target and source.';
comment on column patchdiff.who_and_when.target_file_id is 'The target.';
comment on column patchdiff.who_and_when.filename is 'Its file name.';
comment on column patchdiff.who_and_when.source is
'Who made the proposals, in the callers'' words; null where those were unusable. Nobody has verified it.';
comment on column patchdiff.who_and_when.first_at is 'When the first attempt was recorded.';
comment on column patchdiff.who_and_when.last_at is 'When the last attempt was recorded.';
comment on column patchdiff.who_and_when.accepted is 'How many attempts were accepted.';
comment on column patchdiff.who_and_when.rejected is 'How many attempts were rejected.';
