create or replace function patchdiff._guard_syntax_failure(
    request jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_version jsonb := nullif(request -> 'expected_target_version', 'null');
    v_hash jsonb := nullif(request -> 'expected_current_hash', 'null');
begin
    if request ? 'observation' and (v_version is null or v_hash is null) then
        return patchdiff._request_failure(
            'context_invalid', 'guard_required', 'protocol_validation',
            'An observed submission requires both expected_target_version and expected_current_hash: '
            'send those of the receipt.'
        );
    end if;
    if v_version is null and v_hash is null then
        return patchdiff._request_failure(
            'context_invalid', 'guard_required', 'protocol_validation',
            'At least one of expected_target_version and expected_current_hash is required: '
            'read the target and send what you read.'
        );
    end if;
    if v_version is not null and not (
        jsonb_typeof(v_version) = 'number'
        and v_version #>> '{}' ~ '^[0-9]+$'
        and (v_version #>> '{}')::numeric <= 9223372036854775807
    ) then
        return patchdiff._request_failure(
            'context_invalid', 'invalid_expected_target_version', 'protocol_validation',
            'expected_target_version must be an integer from 0 to 9223372036854775807, or null.'
        );
    end if;
    if v_hash is not null and not (
        jsonb_typeof(v_hash) = 'string' and (v_hash #>> '{}') collate "C" ~ '^[0-9a-f]{64}$'
    ) then
        return patchdiff._request_failure(
            'context_invalid', 'invalid_expected_current_hash', 'protocol_validation',
            'expected_current_hash must be 64 lowercase hexadecimal digits, or null.'
        );
    end if;
    return null;
end
$function$;
comment on function patchdiff._guard_syntax_failure(jsonb) is
'Judges presence and syntax of a request''s guards: null when they can be compared, otherwise the
failure object.';
revoke all on function patchdiff._guard_syntax_failure(jsonb) from public;
