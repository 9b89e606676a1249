-- Chooses the target of a report: :target where it is set, otherwise the one that was changed last. Leaves
-- :audit_target, which is no target's id when there is none, and :audit_title, which fits a line.
\if :{?target}
    \set audit_asked :target
\else
    \set audit_asked ''
\endif
select coalesce(
    case
        when :'audit_asked' = '' then (
            select t.target_file_id::text
            from patchdiff.cloud_target_files as t
            order by t.content_changed_at desc
            limit 1
        )
        when pg_input_is_valid(:'audit_asked', 'uuid') then lower(:'audit_asked')
    end,
    '00000000-0000-0000-0000-000000000000'
) as audit_target \gset
select coalesce(
    (
        select patchdiff.displayed(t.filename, 26) || ' (' || t.target_file_id || '), version ' || t.version
        from patchdiff.cloud_target_files as t
        where t.target_file_id = :'audit_target'
    ),
    case :'audit_asked'
        when '' then 'no target: there is none'
        else 'no target: none has the id ' || patchdiff.displayed(:'audit_asked', 50)
    end
) as audit_title \gset
\unset audit_asked
