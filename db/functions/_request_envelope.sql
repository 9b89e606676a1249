create or replace function patchdiff._request_envelope(
    protocol_version text,
    pdcp_content_hash text,
    request jsonb
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return '{"protocol_version":' || to_json(protocol_version)::text
        || ',"pdcp_content_hash":' || to_json(pdcp_content_hash)::text
        || ',"expected_target_version":' || coalesce(request -> 'expected_target_version', 'null')::text
        || ',"expected_current_hash":' || coalesce(request -> 'expected_current_hash', 'null')::text
        || ',"parent_pdcp_log_id":' || coalesce(request -> 'parent_pdcp_log_id', 'null')::text
        || '}';
end
$function$;
comment on function patchdiff._request_envelope(text, text, jsonb) is
'The compact JSON text whose SHA-256 is a request''s fingerprint: protocol, record hash, both guards,
parent.';
revoke all on function patchdiff._request_envelope(text, text, jsonb) from public;
