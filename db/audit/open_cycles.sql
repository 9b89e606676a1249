-- Targets that were edited since their last save, the most edited first.
--     \i db/audit/open_cycles.sql
-- :limit  targets that are listed, 20 unless set
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 20
\endif

\qecho 'Edited since the last save'
select
    patchdiff.displayed(c.filename, 20) as filename,
    c.target_file_id,
    to_char(c.opened_at, 'YYYY-MM-DD HH24:MI') as "last save",
    c.version,
    c.edits,
    to_char(c.last_edit_at, 'YYYY-MM-DD HH24:MI') as "last edit"
from patchdiff.open_cycles as c
where c.edits > 0
order by c.edits desc, c.target_file_id
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)
\unset audit_limit
