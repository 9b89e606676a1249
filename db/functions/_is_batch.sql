create or replace function patchdiff._is_batch(
    record jsonb
) returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_fits boolean;
begin
    if (
        jsonb_typeof(record -> 'groups') = 'array'
        and patchdiff._target_id(record ->> 'observation_bundle_id') is not null
        and jsonb_array_length(record -> 'groups') between 1 and 32
    ) is not true then
        return false;
    end if;
    select
        bool_and(
            case jsonb_typeof(g.group_object)
                when 'object' then
                    g.group_object - array['observation_id', 'operations'] = '{}'
                    and patchdiff._target_id(g.group_object ->> 'observation_id') is not null
                    and jsonb_typeof(g.group_object -> 'operations') = 'array'
                    and g.group_object -> 'operations' <> '[]'
                else false
            end is true
        )
        and count(*) = count(distinct g.group_object ->> 'observation_id')
    into v_fits
    from jsonb_array_elements(record -> 'groups') as g (group_object);
    if v_fits is not true then
        return false;
    end if;
    select
        count(*) <= 128
        and bool_and(patchdiff._is_change('patchdiff-tx/2', o.change))
        and count(*) = count(distinct patchdiff._change_id(o.change, o.change_index))
    into v_fits
    from patchdiff._batch_operations(record) as o;
    return v_fits is true;
end
$function$;
comment on function patchdiff._is_batch(jsonb) is
'Whether the record of a batch has its shape: a bundle, 1 to 32 groups of different receipts, each with operations,
at most 128 in all, whose change ids differ.';
revoke all on function patchdiff._is_batch(jsonb) from public;
