create or replace function patchdiff._no_target_outcome(
    target_file_id uuid,
    request jsonb,
    proposal_failure jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_missing text := case
        when target_file_id is null then 'invalid_target_id' else 'target_not_found'
    end;
begin
    return jsonb_build_object(
        'outcome', 'refused',
        'target', null,
        'missing', v_missing,
        'failure', coalesce(
            case
                when proposal_failure ->> 'failure_reason' = 'target_encoding_invalid'
                    then proposal_failure
            end,
            patchdiff._request_key_failure(request),
            patchdiff._request_failure(
                v_missing, null,
                case v_missing when 'invalid_target_id' then 'protocol_validation' else 'precondition_guard' end,
                case v_missing
                    when 'invalid_target_id'
                        then 'target_file_id must be a lowercase hyphenated UUID.'
                    else 'No target has this target_file_id.'
                end
            )
        )
    );
end
$function$;
comment on function patchdiff._no_target_outcome(uuid, jsonb, jsonb) is
'The refusal of a submission whose target does not exist; a null id stands for a malformed one. What the
contract judges before the target''s identity (invalid text, request-key syntax) still comes first.';
revoke all on function patchdiff._no_target_outcome(uuid, jsonb, jsonb) from public;
