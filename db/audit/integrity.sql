-- Verifies the targets that were changed last. The cost is that of their whole histories.
--     \i db/audit/integrity.sql
-- :limit  targets that are verified, 20 unless set
\if :{?limit}
    \set audit_limit :limit
\else
    \set audit_limit 20
\endif

\qecho 'Integrity of the targets that were changed last (at most five findings each)'
select
    patchdiff.displayed(t.filename, 22) as filename,
    t.target_file_id,
    v.verdict ->> 'status' as verdict,
    patchdiff.displayed(
        (f.failure ->> 'check') || ': ' || (f.failure ->> 'code')
        || coalesce(' at ' || (f.failure ->> 'log_sequence'), ''),
        43
    ) as finding
from (
    select
        c.target_file_id,
        c.filename,
        c.content_changed_at
    from patchdiff.cloud_target_files as c
    order by c.content_changed_at desc
    limit :'audit_limit'
) as t
cross join lateral (select patchdiff.verify_target(t.target_file_id::text) as verdict offset 0) as v
left join lateral jsonb_array_elements(v.verdict -> 'failures')
    with ordinality as f (failure, place) on f.place <= 5
order by t.content_changed_at desc, t.target_file_id, f.place
\g (format=aligned expanded=off border=1 linestyle=ascii null='' tuples_only=off footer=off pager=off)
\unset audit_limit
