create or replace function patchdiff._consume_receipts(
    target_file_id uuid,
    receipts patchdiff.target_scope_observations[],
    pdcp_log_id uuid,
    consumption text
) returns void
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_now constant timestamptz := clock_timestamp();
begin
    update patchdiff.target_scope_observations as o
    set
        consumed_by_pdcp_log_id = _consume_receipts.pdcp_log_id,
        consumed_at = v_now,
        consumption = _consume_receipts.consumption
    where
        o.target_file_id = _consume_receipts.target_file_id
        and o.observation_id in (select r.observation_id from unnest(receipts) as r);
end
$function$;
comment on function patchdiff._consume_receipts(uuid, patchdiff.target_scope_observations[], uuid, text) is
'Links receipts to the accepted attempt that used them, in single or batch form. The caller holds their locks.';
revoke all on function patchdiff._consume_receipts(uuid, patchdiff.target_scope_observations[], uuid, text)
from public;
