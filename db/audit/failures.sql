-- Why attempts were rejected of late, and on which targets.
--     \i db/audit/failures.sql
-- :days   how far back, 7 days unless set
-- :limit  lines of each table, 20 unless set
\if :{?days}
    \set audit_days :days
\else
    \set audit_days 7
\endif
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 20
\endif

\qecho 'Rejections by reason, last' :audit_days 'days'
with recent as materialized (
    select
        l.target_file_id,
        l.failure_reason,
        l.diagnostic_json ->> 'code' as code,
        l.created_at
    from patchdiff.append_only_pdcp_logs as l
    where l.created_at >= now() - make_interval(days => :'audit_days')
)

select
    patchdiff.displayed(r.failure_reason, 30) as reason,
    patchdiff.displayed(r.code, 30) as code,
    count(*) as rejections,
    round(100.0 * count(*) / (select count(*) from recent), 1) as "% of all",
    count(distinct r.target_file_id) as targets,
    to_char(max(r.created_at), 'YYYY-MM-DD HH24:MI') as newest
from recent as r
where r.failure_reason is not null
group by r.failure_reason, r.code
order by count(*) desc, r.failure_reason, r.code
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)

\qecho 'Targets with the most rejections, last' :audit_days 'days'
select
    patchdiff.displayed(t.filename, 36) as filename,
    r.target_file_id,
    r.rejections,
    r.attempts,
    round(100.0 * r.rejections / r.attempts, 1) as "%"
from (
    select
        l.target_file_id,
        count(*) filter (where l.status = 'rejected') as rejections,
        count(*) as attempts
    from patchdiff.append_only_pdcp_logs as l
    where l.created_at >= now() - make_interval(days => :'audit_days')
    group by l.target_file_id
) as r
inner join patchdiff.cloud_target_files as t on r.target_file_id = t.target_file_id
where r.rejections > 0
order by r.rejections desc, r.target_file_id
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)
\unset audit_days
\unset audit_limit
