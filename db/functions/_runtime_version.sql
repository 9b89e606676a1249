create or replace function patchdiff._runtime_version(
    protocol_version text,
    pdcp_content text
) returns text
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_operations jsonb;
begin
    case protocol_version
        when 'patchdiff-tx/1' then return 'patchdiff-mvp-0.2.2';
        when 'patchdiff-tx/3' then return 'patchdiff-mvp-0.4.0';
        when 'patchdiff-observed-batch/1' then return 'patchdiff-observed-batch-r1';
        when 'patchdiff-tx/2' then null;
        else return null;
    end case;
    if pg_input_is_valid(pdcp_content, 'jsonb') then
        v_operations := pdcp_content::jsonb -> 'operations';
        if jsonb_typeof(v_operations) = 'array' and exists (
            select from jsonb_array_elements(v_operations) as o (operation)
            where
                jsonb_typeof(o.operation) = 'object'
                and o.operation ->> 'op' = 'span'
                and o.operation ?| array['expected_before', 'expected_after']
        ) then
            return 'patchdiff-mvp-0.5.0';
        end if;
    end if;
    return 'patchdiff-mvp-0.3.0';
exception
    -- a text nested deeper than the server's stack allows has no operations to look at
    when statement_too_complex then
        return 'patchdiff-mvp-0.3.0';
end
$function$;
comment on function patchdiff._runtime_version(text, text) is
'The evaluator that judges a record: by its protocol, and for operations by whether any span has a key of
span context, null or not. Null for evidence of invalid input.';
revoke all on function patchdiff._runtime_version(text, text) from public;
