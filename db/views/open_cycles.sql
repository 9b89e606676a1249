create or replace view patchdiff.open_cycles as
select
    c.target_file_id,
    t.filename,
    c.editing_cycle_id,
    c.opened_at,
    c.opened_version,
    t.version,
    t.version - c.opened_version as edits,
    (
        select count(*)
        from patchdiff.manifest_ledger as m
        where m.target_file_id = c.target_file_id and m.editing_cycle_id = c.editing_cycle_id
    ) as changes,
    case when t.version > c.opened_version then t.content_changed_at end as last_edit_at
from patchdiff.editing_cycles as c
inner join patchdiff.cloud_target_files as t on c.target_file_id = t.target_file_id
where c.closed_at is null;

comment on view patchdiff.open_cycles is
'Each target''s open editing cycle: what has been edited since the last save, or since the target was made.';
comment on column patchdiff.open_cycles.target_file_id is 'The target.';
comment on column patchdiff.open_cycles.filename is 'Its file name.';
comment on column patchdiff.open_cycles.editing_cycle_id is 'The open editing cycle.';
comment on column patchdiff.open_cycles.opened_at is 'Since when it is open.';
comment on column patchdiff.open_cycles.opened_version is 'The target''s version when it was opened.';
comment on column patchdiff.open_cycles.version is 'The target''s version now.';
comment on column patchdiff.open_cycles.edits is 'Accepted attempts since it was opened.';
comment on column patchdiff.open_cycles.changes is 'Their changes: rows in the ledger.';
comment on column patchdiff.open_cycles.last_edit_at is 'When the last of them was recorded; null without any.';
