create or replace function patchdiff._target_refusal(
    target_file_id text
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if patchdiff._target_id(_target_refusal.target_file_id) is null then
        return patchdiff._refusal(
            'invalid_argument',
            'invalid_target_id',
            'target_file_id must be a lowercase hyphenated UUID:'
            || ' pass the target_file_id of an initialization unchanged.'
        );
    end if;
    return patchdiff._refusal(
        'not_found',
        null,
        'No target has the id ' || _target_refusal.target_file_id
        || ': pass the target_file_id of an initialization on this database.'
    );
end
$function$;
comment on function patchdiff._target_refusal(text) is
'Payload of the reads for a target id without a row: invalid_argument with code invalid_target_id when the
id is malformed or null, otherwise not_found.';
revoke all on function patchdiff._target_refusal(text) from public;
