create or replace function patchdiff._request_key_failure(
    request jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_key jsonb := request -> 'client_request_id';
begin
    if v_key is null or jsonb_typeof(v_key) = 'null' then
        if request -> 'observation' ? 'observation_ids' then
            return patchdiff._request_failure(
                'context_invalid', 'client_request_id_required', 'protocol_validation',
                'A batch requires a client_request_id: send a string of 1 to 128 printable ASCII characters.'
            );
        end if;
        return null;
    end if;
    if jsonb_typeof(v_key) = 'string' and (v_key #>> '{}') collate "C" ~ '^[ -~]{1,128}$' then
        return null;
    end if;
    return patchdiff._request_failure(
        'context_invalid', 'invalid_client_request_id', 'protocol_validation',
        'client_request_id must be a string of 1 to 128 printable ASCII characters, or null.'
    );
end
$function$;
comment on function patchdiff._request_key_failure(jsonb) is
'Judges the syntax of a request key: null when it is usable, or absent where none is required, otherwise the failure
object. A batch requires one.';
revoke all on function patchdiff._request_key_failure(jsonb) from public;
