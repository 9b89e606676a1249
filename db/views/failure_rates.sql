create or replace view patchdiff.failure_rates as
select
    r.target_file_id,
    t.filename,
    r.failure_reason,
    r.rejections,
    r.attempts::bigint as attempts,
    round(r.rejections::numeric / r.attempts, 4) as share,
    r.first_at,
    r.last_at
from (
    select
        l.target_file_id,
        l.failure_reason,
        count(*) as rejections,
        sum(count(*)) over (partition by l.target_file_id) as attempts,
        min(l.created_at) as first_at,
        max(l.created_at) as last_at
    from patchdiff.append_only_pdcp_logs as l
    group by l.target_file_id, l.failure_reason
) as r
inner join patchdiff.cloud_target_files as t on r.target_file_id = t.target_file_id
where r.failure_reason is not null;

comment on view patchdiff.failure_rates is
'How often each target''s attempts were rejected, by reason: one row for each target and reason.';
comment on column patchdiff.failure_rates.target_file_id is 'The target.';
comment on column patchdiff.failure_rates.filename is 'Its file name.';
comment on column patchdiff.failure_rates.failure_reason is 'Why attempts were rejected, one stable word.';
comment on column patchdiff.failure_rates.rejections is 'How many were rejected for it.';
comment on column patchdiff.failure_rates.attempts is 'How many attempts the target has, accepted ones included.';
comment on column patchdiff.failure_rates.share is 'rejections divided by attempts, rounded to four places.';
comment on column patchdiff.failure_rates.first_at is 'When the first of them was recorded.';
comment on column patchdiff.failure_rates.last_at is 'When the last of them was recorded.';
