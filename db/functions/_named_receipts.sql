create or replace function patchdiff._named_receipts(
    request jsonb
) returns uuid[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_observation constant jsonb := request -> 'observation';
begin
    return array(
        select patchdiff._target_id(n.id #>> '{}')
        from jsonb_array_elements(
            case
                when jsonb_typeof(v_observation -> 'observation_ids') = 'array' then v_observation -> 'observation_ids'
                else jsonb_build_array(v_observation -> 'observation_id')
            end
        ) with ordinality as n (id, position)
        order by n.position
    );
end
$function$;
comment on function patchdiff._named_receipts(jsonb) is
'The ids of the receipts that a request names, in its order, null in the place of one that is malformed.';
revoke all on function patchdiff._named_receipts(jsonb) from public;
