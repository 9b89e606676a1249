create or replace function patchdiff._key_conflict(
    existing_pdcp_log_id uuid,
    existing_envelope text,
    submitted_envelope text,
    request jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_build_object(
        'existing_pdcp_log_id', existing_pdcp_log_id,
        'submitted_key_preview', left(request ->> 'client_request_id', 64),
        'differing_components', (
            select coalesce(jsonb_agg(s.key order by s.position), '[]')
            from json_each_text(submitted_envelope::json) with ordinality as s (key, value, position)
            inner join json_each_text(existing_envelope::json) as e (key, value) on e.key = s.key
            where s.value is distinct from e.value
        ) || case
            when existing_envelope = submitted_envelope then '["observation_id"]'::jsonb else '[]'
        end
    );
end
$function$;
comment on function patchdiff._key_conflict(uuid, text, text, jsonb) is
'How a request differs from the one that its key already names: the earlier attempt''s id, the members
of the fingerprint that differ, and at most 64 characters of the key.';
revoke all on function patchdiff._key_conflict(uuid, text, text, jsonb) from public;
