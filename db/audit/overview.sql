-- How much there is, and what changed last.
--     \i db/audit/overview.sql
-- :limit  targets that are listed, 10 unless set
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 10
\endif

\qecho 'Overview'
with counted as (
    select
        (select count(*) from patchdiff.cloud_target_files) as targets,
        (
            select count(*)
            from patchdiff.editing_cycles as c
            inner join patchdiff.cloud_target_files as t on c.target_file_id = t.target_file_id
            where c.closed_at is null and c.opened_version < t.version
        ) as unsaved,
        -- each target's newest attempt is found by its key; the time alone has no order that could be used
        (
            select max(l.created_at)
            from patchdiff.cloud_target_files as t
            inner join patchdiff.append_only_pdcp_logs as l
                on t.target_file_id = l.target_file_id and t.log_head_sequence = l.log_sequence
        ) as last_attempt,
        (select max(t.content_changed_at) from patchdiff.cloud_target_files as t) as last_change,
        count(*) as attempts,
        count(*) filter (where l.status = 'accepted') as accepted,
        count(*) filter (where l.status = 'rejected') as rejected
    from patchdiff.append_only_pdcp_logs as l
)

select
    v.fact,
    v.found
from counted as c
cross join lateral (
    values
    (1, 'targets', c.targets::text),
    (2, 'targets with edits since their last save', c.unsaved::text),
    (3, 'attempts', c.attempts::text),
    (4, 'accepted', c.accepted::text),
    (5, 'rejected', c.rejected::text),
    (6, 'share of rejected attempts', coalesce(round(100.0 * c.rejected / nullif(c.attempts, 0), 1) || ' %', '-')),
    (7, 'newest attempt', coalesce(to_char(c.last_attempt, 'YYYY-MM-DD HH24:MI:SS'), '-')),
    (8, 'newest text', coalesce(to_char(c.last_change, 'YYYY-MM-DD HH24:MI:SS'), '-')),
    (9, 'time zone', patchdiff.displayed(current_setting('timezone'), 60))
) as v (place, fact, found)
order by v.place
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)

\qecho 'Changed last'
select
    patchdiff.displayed(t.filename, 36) as filename,
    t.target_file_id,
    t.version,
    to_char(t.content_changed_at, 'YYYY-MM-DD HH24:MI:SS') as changed
from patchdiff.cloud_target_files as t
order by t.content_changed_at desc
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)
\unset audit_limit
