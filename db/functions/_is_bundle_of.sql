create or replace function patchdiff._is_bundle_of(
    attempt patchdiff.append_only_pdcp_logs,
    observation_bundle_id uuid,
    receipts patchdiff.target_scope_observations[]
) returns boolean
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return exists (
        select from patchdiff.target_scope_bundles as b
        where
            b.target_file_id = attempt.target_file_id
            and b.observation_bundle_id = _is_bundle_of.observation_bundle_id
            and b.editing_cycle_id = attempt.editing_cycle_id
            and b.target_version = attempt.before_version
            and b.target_current_hash = attempt.before_hash
            and not exists (
                select from unnest(receipts) as r where (r.engine, r.language) is distinct from (b.engine, b.language)
            )
    );
end
$function$;
comment on function patchdiff._is_bundle_of(
    patchdiff.append_only_pdcp_logs, uuid, patchdiff.target_scope_observations[]
) is
'Whether the bundle that a batch named is there, of the cycle and state that the batch was made on, and of the
engine of its receipts.';
revoke all on function patchdiff._is_bundle_of(
    patchdiff.append_only_pdcp_logs, uuid, patchdiff.target_scope_observations[]
) from public;
