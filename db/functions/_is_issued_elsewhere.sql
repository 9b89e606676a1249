create or replace function patchdiff._is_issued_elsewhere(
    target_file_id uuid,
    receipt_id uuid
) returns boolean
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return exists (
        select from patchdiff.target_scope_observations as o
        where o.observation_id = receipt_id and o.target_file_id <> _is_issued_elsewhere.target_file_id
    ) or exists (
        select from patchdiff.target_scope_bundles as b
        where b.observation_bundle_id = receipt_id and b.target_file_id <> _is_issued_elsewhere.target_file_id
    );
end
$function$;
comment on function patchdiff._is_issued_elsewhere(uuid, uuid) is
'Whether another target has a receipt or a bundle of this id: tells one of another target from one that never was,
and nothing else of it.';
revoke all on function patchdiff._is_issued_elsewhere(uuid, uuid) from public;
