create or replace function patchdiff._usable_parent(
    target_file_id uuid,
    request jsonb
) returns uuid
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return (
        select l.pdcp_log_id
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _usable_parent.target_file_id
            and l.pdcp_log_id = patchdiff._target_id(request ->> 'parent_pdcp_log_id')
            and l.status = 'rejected'
    );
end
$function$;
comment on function patchdiff._usable_parent(uuid, jsonb) is
'The rejected attempt of the same target that a request names as its parent; null when it names none
that is.';
revoke all on function patchdiff._usable_parent(uuid, jsonb) from public;
