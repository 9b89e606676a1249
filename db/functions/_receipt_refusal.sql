create or replace function patchdiff._receipt_refusal(
    code text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return patchdiff._request_failure(
        'context_invalid', _receipt_refusal.code, 'precondition_guard',
        case _receipt_refusal.code
            when 'OBSERVATION_REQUIRED'
                then 'An observed submission names its receipt: observe the scope, and send its observation_id.'
            when 'INVALID_OBSERVATION_ID'
                then 'A receipt''s id must be a lowercase hyphenated UUID: send the one that observing returned.'
            when 'UNKNOWN_OBSERVATION_ID' then 'No receipt has this id: observe the scope.'
            when 'OBSERVATION_TARGET_MISMATCH' then 'The receipt is of another target: observe a scope of this one.'
            when 'OBSERVATION_NOT_IN_BUNDLE' then 'A group names a receipt that is not of the bundle.'
            when 'OBSERVATION_CYCLE_MISMATCH'
                then 'The receipt is of an editing cycle that a save has closed: observe the scope again.'
            when 'OBSERVATION_ALREADY_CONSUMED'
                then 'The receipt was used by an accepted attempt: observe the scope again.'
            when 'STALE_OBSERVATION_VERSION'
                then 'The target has moved on from the version that was observed: observe the scope again.'
            when 'STALE_OBSERVATION_HASH'
                then 'The target''s text is not the one that was observed: observe the scope again.'
            when 'STALE_OBSERVATION_ENGINE'
                then 'The receipt was issued by another structural engine: observe the scope again.'
        end
    );
end
$function$;
comment on function patchdiff._receipt_refusal(text) is
'The failure object of a receipt that cannot be used, by its code.';
revoke all on function patchdiff._receipt_refusal(text) from public;
