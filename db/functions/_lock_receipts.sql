create or replace function patchdiff._lock_receipts(
    target_file_id uuid,
    request jsonb
) returns void
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if request ? 'observation' then
        perform
        from patchdiff.target_scope_observations as o
        where
            o.target_file_id = _lock_receipts.target_file_id
            and o.observation_id = any (patchdiff._named_receipts(request))
        order by o.observation_id
        for update;
    end if;
end
$function$;
comment on function patchdiff._lock_receipts(uuid, jsonb) is
'Locks the receipts that an observed submission names, by ascending id; the caller holds the target''s lock.';
revoke all on function patchdiff._lock_receipts(uuid, jsonb) from public;
