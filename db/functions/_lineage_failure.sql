create or replace function patchdiff._lineage_failure(
    target_file_id uuid,
    request jsonb
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if
        jsonb_typeof(request -> 'parent_pdcp_log_id') <> 'null'
        and patchdiff._usable_parent(target_file_id, request) is null
    then
        return patchdiff._request_failure(
            'context_invalid', 'invalid_parent', 'protocol_validation',
            'parent_pdcp_log_id must be the lowercase hyphenated UUID of a rejected attempt of this target, or null.'
        );
    end if;
    if jsonb_typeof(request -> 'attempt') <> 'null' and patchdiff._usable_attempt(request) is null then
        return patchdiff._request_failure(
            'context_invalid', 'invalid_attempt', 'protocol_validation',
            'attempt must be an integer from 1 to 9223372036854775807, or null.'
        );
    end if;
    if jsonb_typeof(request -> 'source') <> 'string' then
        return patchdiff._request_failure(
            'context_invalid', 'invalid_source', 'protocol_validation',
            'source must be a string; leave it out for model_response.'
        );
    end if;
    return null;
end
$function$;
comment on function patchdiff._lineage_failure(uuid, jsonb) is
'Judges parent, attempt number and source of a request: null when they hold, otherwise the failure
object.';
revoke all on function patchdiff._lineage_failure(uuid, jsonb) from public;
