create or replace function patchdiff._diverged_failure() returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return patchdiff._request_failure(
        'target_diverged', null, 'precondition_guard',
        'The stored text and the stored hash of this target disagree: have it verified.'
    );
end
$function$;
comment on function patchdiff._diverged_failure() is
'The failure object of a write to a target whose stored hash is not that of its stored text.';
revoke all on function patchdiff._diverged_failure() from public;
