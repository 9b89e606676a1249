create or replace function patchdiff._receipts_failure(
    attempt patchdiff.append_only_pdcp_logs,
    receipts patchdiff.target_scope_observations[],
    content text
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_batch constant boolean := attempt.protocol_version = 'patchdiff-observed-batch/1';
    v_bundle_id uuid;
    v_named uuid[] := array_remove(array[attempt.observation_id], null);
begin
    if v_batch then
        -- first of all, since it raises PD020 for what is no record
        v_named := array(
            select distinct c.observation_id
            from patchdiff._record_changes(attempt.protocol_version, attempt.pdcp_content) as c
        );
        v_bundle_id := (attempt.pdcp_content::jsonb ->> 'observation_bundle_id')::uuid;
    end if;
    if
        array(select r.observation_id from unnest(receipts) as r order by r.observation_id)
        <> array(select n.id from unnest(v_named) as n (id) order by n.id)
        or (v_batch and attempt.observation_id is not null)
    then
        return patchdiff._replay_failure(
            'receipt_missing', 'The receipts that name the attempt are not those that it names.'
        );
    end if;
    if exists (
        select from unnest(receipts) as r
        where (
            r.consumption = case when v_batch then 'batch' else 'single' end
            and r.editing_cycle_id = attempt.editing_cycle_id
            and r.target_version = attempt.before_version
            and r.target_current_hash = attempt.before_hash
            and r.scope_end <= length(content)
            and r.observed_scope_hash = patchdiff._sha256_hex(
                substr(content, r.scope_start::integer + 1, (r.scope_end - r.scope_start)::integer)
            )
            and (not v_batch or r.observation_bundle_id = v_bundle_id)
        ) is not true
    ) or (v_batch and not patchdiff._is_bundle_of(attempt, v_bundle_id, receipts)) then
        return patchdiff._replay_failure(
            'receipt_altered', 'A receipt of the attempt is not of the state or the scope that it was issued on.'
        );
    end if;
    return null;
exception
    when sqlstate 'PD020' or numeric_value_out_of_range then
        return patchdiff._replay_failure('record_altered', 'The record is no transaction of its recorded protocol.');
end
$function$;
comment on function patchdiff._receipts_failure(
    patchdiff.append_only_pdcp_logs, patchdiff.target_scope_observations[], text
) is
'Compares an accepted attempt with the receipts that name it, on the text that it was made on: null when they are
those that it names, of its cycle, version, hash and scopes, in the form that it has, otherwise the failure of a
replay. An attempt that was not observed has none. Contract: patchdiff_submit_observed_operations.';
revoke all on function patchdiff._receipts_failure(
    patchdiff.append_only_pdcp_logs, patchdiff.target_scope_observations[], text
) from public;
