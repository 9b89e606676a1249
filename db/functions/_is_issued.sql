create or replace function patchdiff._is_issued(
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
        select from patchdiff.target_scope_observations as o where o.observation_id = receipt_id
    ) or exists (
        select from patchdiff.target_scope_bundles as b where b.observation_bundle_id = receipt_id
    );
end
$function$;
comment on function patchdiff._is_issued(uuid) is
'Whether any target has a receipt or a bundle of this id: tells one of another target from one that never was, and
nothing else of it.';
revoke all on function patchdiff._is_issued(uuid) from public;
