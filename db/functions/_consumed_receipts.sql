create or replace function patchdiff._consumed_receipts(
    target_file_id uuid,
    pdcp_log_id uuid
) returns patchdiff.target_scope_observations[]
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return array(
        select o
        from patchdiff.target_scope_observations as o
        where
            o.target_file_id = _consumed_receipts.target_file_id
            and o.consumed_by_pdcp_log_id = _consumed_receipts.pdcp_log_id
        order by o.observation_id
    );
end
$function$;
comment on function patchdiff._consumed_receipts(uuid, uuid) is
'The receipts that name an attempt as the one that used them, by ascending id; empty for an attempt that was not
observed.';
revoke all on function patchdiff._consumed_receipts(uuid, uuid) from public;
