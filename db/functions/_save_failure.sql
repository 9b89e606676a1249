create or replace function patchdiff._save_failure(
    guards jsonb,
    version bigint,
    current_hash text,
    current_content text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_failure jsonb;
begin
    if coalesce(
        nullif(guards -> 'expected_target_version', 'null'), nullif(guards -> 'expected_current_hash', 'null')
    ) is not null then
        v_failure := patchdiff._guard_syntax_failure(guards);
    end if;
    if v_failure is null and patchdiff._sha256_hex(current_content) <> current_hash then
        v_failure := patchdiff._diverged_failure();
    end if;
    return jsonb_strip_nulls(coalesce(
        v_failure, patchdiff._stale_guard_failure(guards, version, current_hash)
    ));
end
$function$;
comment on function patchdiff._save_failure(jsonb, bigint, text, text) is
'Judges whether a target may be saved under optional guards, in the order of a submission: guard syntax,
divergence of text and hash, stale guards. Null when it may, otherwise the failure object.';
revoke all on function patchdiff._save_failure(jsonb, bigint, text, text) from public;
