create or replace function patchdiff._replacement_shape_failure(
    intent text,
    replacement text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if _replacement_shape_failure.intent is null then
        return patchdiff._request_failure(
            'protocol_invalid', null, 'protocol_validation', 'intent must be a string.'
        );
    end if;
    if _replacement_shape_failure.replacement is null then
        return patchdiff._request_failure(
            'protocol_invalid', null, 'protocol_validation', 'replacement must be a string (empty is valid).'
        ) || '{"failed_change_id": "chg_001"}';
    end if;
    return null;
end
$function$;
comment on function patchdiff._replacement_shape_failure(text, text) is
'Judges the shape of a whole replacement: null when it holds, otherwise the failure object.';
revoke all on function patchdiff._replacement_shape_failure(text, text) from public;
