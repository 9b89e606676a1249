create or replace function patchdiff._save_rejection(
    target_file_id uuid,
    current_hash text,
    version bigint,
    failure jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return failure || jsonb_build_object(
        'status', 'rejected',
        'target_file_id', _save_rejection.target_file_id,
        'snapshot_id', null,
        'closed_editing_cycle_id', null,
        'new_editing_cycle_id', null,
        'current_hash', _save_rejection.current_hash,
        'version', _save_rejection.version
    );
end
$function$;
comment on function patchdiff._save_rejection(uuid, text, bigint, jsonb) is
'Answer of a save that is refused: the failure object with the fields of a save, snapshot and cycles unset.';
revoke all on function patchdiff._save_rejection(uuid, text, bigint, jsonb) from public;
