create or replace function patchdiff._receipts(
    target_file_id uuid,
    request jsonb
) returns patchdiff.target_scope_observations[]
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if not request ? 'observation' then
        return null;
    end if;
    return array(
        select o
        from unnest(patchdiff._named_receipts(request)) with ordinality as n (id, position)
        inner join patchdiff.target_scope_observations as o
            on o.target_file_id = _receipts.target_file_id and n.id = o.observation_id
        order by n.position
    );
end
$function$;
comment on function patchdiff._receipts(uuid, jsonb) is
'The receipts that an observed submission names, in its order; null for one that is not observed.';
revoke all on function patchdiff._receipts(uuid, jsonb) from public;
