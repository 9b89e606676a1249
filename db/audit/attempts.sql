-- The newest attempts of one target, accepted and rejected.
--     \set target <target_file_id>
--     \i db/audit/attempts.sql
-- :target  the target; the one that was changed last unless set
-- :limit   attempts that are listed, 20 unless set
\ir _target.sql
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 20
\endif

\qecho 'Attempts, newest first:' :audit_title
select
    a.log_sequence as sequence,
    to_char(a.recorded_at, 'YYYY-MM-DD HH24:MI:SS') as recorded,
    a.status,
    a.before_version as "base version",
    patchdiff.displayed(a.source, 16) as source,
    patchdiff.displayed(concat_ws(': ', a.failure_reason, a.intent), 36) as "reason of a rejection, intent"
from patchdiff.attempts as a
where a.target_file_id = :'audit_target'
order by a.log_sequence desc
limit :'audit_limit'
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)
\unset audit_limit
\unset audit_target
\unset audit_title
