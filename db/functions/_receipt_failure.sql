create or replace function patchdiff._receipt_failure(
    target_file_id uuid,
    observation_id jsonb,
    engine text,
    paging boolean
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id uuid;
    v_receipt patchdiff.target_scope_observations;
    v_target record;
    v_code text;
begin
    if coalesce(jsonb_typeof(observation_id), 'null') = 'null' then
        return patchdiff._receipt_refusal('OBSERVATION_REQUIRED');
    end if;
    v_id := case jsonb_typeof(observation_id) when 'string' then patchdiff._target_id(observation_id #>> '{}') end;
    if v_id is null then
        return patchdiff._receipt_refusal('INVALID_OBSERVATION_ID');
    end if;
    select o.* into v_receipt
    from patchdiff.target_scope_observations as o
    where o.target_file_id = _receipt_failure.target_file_id and o.observation_id = v_id;
    if not found then
        return patchdiff._receipt_refusal(
            case
                when patchdiff._is_issued_elsewhere(_receipt_failure.target_file_id, v_id)
                    then 'OBSERVATION_TARGET_MISMATCH'
                else 'UNKNOWN_OBSERVATION_ID'
            end
        );
    end if;
    select t.active_editing_cycle_id, t.version, t.current_hash into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = _receipt_failure.target_file_id;
    v_code := case
        when not paging and v_receipt.consumed_by_pdcp_log_id is not null then 'OBSERVATION_ALREADY_CONSUMED'
        when v_receipt.editing_cycle_id <> v_target.active_editing_cycle_id then 'OBSERVATION_CYCLE_MISMATCH'
        when v_receipt.target_version <> v_target.version then 'STALE_OBSERVATION_VERSION'
        when v_receipt.target_current_hash <> v_target.current_hash then 'STALE_OBSERVATION_HASH'
        when v_receipt.engine is distinct from _receipt_failure.engine then 'STALE_OBSERVATION_ENGINE'
    end;
    return case when v_code is not null then patchdiff._receipt_refusal(v_code) end;
end
$function$;
comment on function patchdiff._receipt_failure(uuid, jsonb, text, boolean) is
'Judges a receipt that a call names, as the caller sent it, for a target as it is now and an engine: null when it may
be used, otherwise the failure object. A receipt that was used can still be paged, as far as its state is the
current one.';
revoke all on function patchdiff._receipt_failure(uuid, jsonb, text, boolean) from public;
