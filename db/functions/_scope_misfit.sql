create or replace function patchdiff._scope_misfit(
    receipts patchdiff.target_scope_observations[],
    observation_ids uuid[],
    span_starts bigint[],
    befores text[],
    matched text[],
    afters text[],
    replacements text[]
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_receipt patchdiff.target_scope_observations;
    v_judged integer := 0;
    v_before integer;
    v_scope_end bigint;
    v_end bigint;
begin
    if receipts is null then
        return case when observation_ids is distinct from array_fill(null::uuid, array[cardinality(observation_ids)])
            then 'a batch has no receipts' end;
    end if;
    foreach v_receipt in array receipts loop
        v_scope_end := v_receipt.scope_end;
        v_before := v_judged;
        for i in 1 .. cardinality(matched) loop
            continue when observation_ids[i] <> v_receipt.observation_id;
            v_judged := v_judged + 1;
            v_end := span_starts[i] + length(matched[i]);
            if
                span_starts[i] - length(befores[i]) < v_receipt.scope_start
                or v_end + length(afters[i]) > v_scope_end
                or (
                    matched[i] = ''
                    and (
                        span_starts[i] = v_receipt.scope_start or v_end = v_scope_end
                        or befores[i] = '' or afters[i] = ''
                    )
                )
            then
                return 'change ' || i || ' does not lie inside its scope';
            end if;
            v_scope_end := v_scope_end + length(replacements[i]) - length(matched[i]);
        end loop;
        if v_judged = v_before then
            return 'a receipt has no change';
        end if;
    end loop;
    return case when v_judged <> cardinality(matched) then 'a change has no receipt, or several' end;
end
$function$;
comment on function patchdiff._scope_misfit(
    patchdiff.target_scope_observations[], uuid[], bigint[], text[], text[], text[], text[]
) is
'Says which change of an observed record does not lie inside the scope of its receipt, or is null. Each change has
the receipt of its group, null outside a batch; its place in code points; and what it expects before, at and after
it. A scope''s end moves with each change. An insertion needs a place strictly inside, and text expected on both
sides, inside the scope too. Null receipts are those of a record that is not observed.
Contract: patchdiff_submit_observed_operations.';
revoke all on function patchdiff._scope_misfit(
    patchdiff.target_scope_observations[], uuid[], bigint[], text[], text[], text[], text[]
) from public;
