create or replace function patchdiff.save(
    target_file_id text,
    expected_target_version bigint default null,
    expected_current_hash text default null,
    export_after_save boolean default false
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
    return patchdiff.save_checkpoint(
        save.target_file_id,
        jsonb_build_object(
            'expected_target_version', save.expected_target_version,
            'expected_current_hash', save.expected_current_hash
        ),
        save.export_after_save
    );
end
$function$;
comment on function patchdiff.save(text, bigint, text, boolean) is
'Saves a target: keeps its text as a snapshot, closes the open editing cycle and opens the next, and changes no
text, hash or version. Both guards are optional; one that is given must hold. export_after_save adds export, the
text in the default format. Answers saved, with snapshot_id, closed_editing_cycle_id and new_editing_cycle_id; or
rejected, with failure_reason and nothing written; the refusals of a malformed or unknown target; invalid_argument
for a null export_after_save. Contract: patchdiff_save.';
revoke all on function patchdiff.save(text, bigint, text, boolean) from public;
grant execute on function patchdiff.save(text, bigint, text, boolean) to patchdiff_editor;
