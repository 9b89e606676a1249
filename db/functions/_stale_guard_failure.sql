create or replace function patchdiff._stale_guard_failure(
    request jsonb,
    version bigint,
    current_hash text
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
    if v_version is not null and (v_version #>> '{}')::numeric <> version then
        return patchdiff._request_failure(
            'target_version_mismatch', null, 'precondition_guard',
            format(
                'expected_target_version is %s, but the target is at version %s: read it again.',
                v_version #>> '{}', version
            )
        );
    end if;
    if v_hash is not null and v_hash #>> '{}' <> current_hash then
        return patchdiff._request_failure(
            'target_hash_mismatch', null, 'precondition_guard',
            'expected_current_hash is not the target''s current hash: read it again.'
        );
    end if;
    return null;
end
$function$;
comment on function patchdiff._stale_guard_failure(jsonb, bigint, text) is
'Compares well-formed guards with the target, version first: null when all hold, otherwise the failure
object.';
revoke all on function patchdiff._stale_guard_failure(jsonb, bigint, text) from public;
