create or replace function patchdiff._batch_operations(
    record jsonb
) returns table (
    change_index bigint,
    observation_id text,
    change jsonb
)
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return query
    select
        row_number() over (order by g.position, o.position),
        g.group_object ->> 'observation_id',
        o.operation
    from jsonb_array_elements(case jsonb_typeof(record -> 'groups') when 'array' then record -> 'groups' else '[]' end)
        with ordinality as g (group_object, position)
    cross join lateral jsonb_array_elements(
        case jsonb_typeof(g.group_object -> 'operations') when 'array' then g.group_object -> 'operations' else '[]' end
    ) with ordinality as o (operation, position);
end
$function$;
comment on function patchdiff._batch_operations(jsonb) is
'The operations of a batch''s record in order, over all its groups: one-based index, the receipt of its group, and
the operation. What has not the shape of groups has none.';
revoke all on function patchdiff._batch_operations(jsonb) from public;
