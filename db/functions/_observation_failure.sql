create or replace function patchdiff._observation_failure(
    target_file_id uuid,
    request jsonb
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_observation constant jsonb := request -> 'observation';
    v_engine constant text := v_observation ->> 'engine';
    v_bundle_id uuid;
    v_failure jsonb;
begin
    if v_observation is null then
        return null;
    end if;
    if not v_observation ? 'observation_ids' then
        return patchdiff._receipt_failure(target_file_id, v_observation -> 'observation_id', v_engine, false);
    end if;
    if coalesce(jsonb_typeof(v_observation -> 'observation_bundle_id'), 'null') = 'null' then
        return patchdiff._receipt_refusal('OBSERVATION_REQUIRED');
    end if;
    v_bundle_id := patchdiff._target_id(v_observation ->> 'observation_bundle_id');
    if v_bundle_id is null then
        return patchdiff._receipt_refusal('INVALID_OBSERVATION_ID');
    end if;
    if not exists (
        select from patchdiff.target_scope_bundles as b
        where b.target_file_id = _observation_failure.target_file_id and b.observation_bundle_id = v_bundle_id
    ) then
        return patchdiff._receipt_refusal(
            case
                when patchdiff._is_issued_elsewhere(_observation_failure.target_file_id, v_bundle_id)
                    then 'OBSERVATION_TARGET_MISMATCH'
                else 'UNKNOWN_OBSERVATION_ID'
            end
        );
    end if;
    if
        jsonb_typeof(v_observation -> 'observation_ids') <> 'array'
        or v_observation -> 'observation_ids' = '[]'
    then
        return patchdiff._receipt_refusal('OBSERVATION_REQUIRED');
    end if;
    select f.failure into v_failure
    from jsonb_array_elements(v_observation -> 'observation_ids') with ordinality as n (id, position)
    cross join lateral (
        select coalesce(
            patchdiff._receipt_failure(_observation_failure.target_file_id, n.id, v_engine, false),
            case
                when not exists (
                    select from patchdiff.target_scope_observations as o
                    where
                        o.target_file_id = _observation_failure.target_file_id
                        and o.observation_id = patchdiff._target_id(n.id #>> '{}')
                        and o.observation_bundle_id = v_bundle_id
                ) then patchdiff._receipt_refusal('OBSERVATION_NOT_IN_BUNDLE')
            end
        ) as failure
    ) as f
    where f.failure is not null
    order by n.position
    limit 1;
    return v_failure;
end
$function$;
comment on function patchdiff._observation_failure(uuid, jsonb) is
'Judges the receipts that a request names in its member observation: observation_id, or observation_bundle_id with
observation_ids, and engine. Null when all may be used and for a request that is not observed, otherwise the failure
object of the first that may not.';
revoke all on function patchdiff._observation_failure(uuid, jsonb) from public;
