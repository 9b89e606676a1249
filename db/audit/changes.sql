-- The newest accepted changes of one target, old text and new text side by side.
--     \set target <target_file_id>
--     \i db/audit/changes.sql
-- :target  the target; the one that was changed last unless set
-- :limit   changes that are listed, 20 unless set
\ir _target.sql
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 20
\endif

\qecho 'Accepted changes, newest first:' :audit_title
select
    c.ledger_sequence as sequence,
    to_char(c.recorded_at, 'YYYY-MM-DD HH24:MI') as recorded,
    c.after_version as version,
    patchdiff.displayed(c.old_text, 35) as "old text",
    patchdiff.displayed(c.new_text, 35) as "new text"
from patchdiff.accepted_changes as c
where c.target_file_id = :'audit_target'
order by c.ledger_sequence desc
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='damaged' tuples_only=off footer=off pager=off)
\unset audit_limit
\unset audit_target
\unset audit_title
