-- Who made proposals of late, for which targets, and what became of them. The source is what the caller said.
--     \i db/audit/who.sql
-- :days   how far back, 30 days unless set
-- :limit  lines, 20 unless set
\if :{?days}
    \set audit_days :days
\else
    \set audit_days 30
\endif
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 20
\endif

\qecho 'Who and when, last' :audit_days 'days'
select
    patchdiff.displayed(s.source, 27) as source,
    patchdiff.displayed(t.filename, 27) as filename,
    to_char(s.first_at, 'YYYY-MM-DD HH24:MI') as first,
    to_char(s.last_at, 'YYYY-MM-DD HH24:MI') as last,
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
    where l.created_at >= now() - make_interval(days => :'audit_days')
    group by l.target_file_id, l.source
) as s
inner join patchdiff.cloud_target_files as t on s.target_file_id = t.target_file_id
order by s.last_at desc, s.target_file_id, s.source
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='none' tuples_only=off footer=off pager=off)
\unset audit_days
\unset audit_limit
