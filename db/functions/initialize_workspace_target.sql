create or replace function patchdiff.initialize_workspace_target(
    filename text,
    content text,
    content_type text,
    project_id text,
    root_device numeric,
    root_inode numeric
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_answer jsonb;
begin
    v_answer := patchdiff.initialize_target(
        initialize_workspace_target.filename,
        initialize_workspace_target.content,
        initialize_workspace_target.content_type,
        initialize_workspace_target.project_id
    );
    if v_answer ->> 'status' = 'ok' then
        insert into patchdiff.workspace_files (
            target_file_id, root_device, root_inode, relative_path, disk_sha256, disk_bytes, recorded_at
        ) values (
            (v_answer ->> 'target_file_id')::uuid,
            initialize_workspace_target.root_device,
            initialize_workspace_target.root_inode,
            initialize_workspace_target.filename,
            v_answer #>> '{source_line_endings,source_sha256}',
            (v_answer #>> '{source_line_endings,source_utf8_bytes}')::bigint,
            clock_timestamp()
        );
    end if;
    return v_answer;
end
$function$;
comment on function patchdiff.initialize_workspace_target(text, text, text, text, numeric, numeric) is
'Makes a target of a file that a program has read, as initialize_target does, and records where it is: filename is
its path below the root directory with this device and inode, content its text as it is on disk. Hash and number of
its bytes are the baseline that the first publication compares with the disk. Answers and refuses as
initialize_target. Contract: patchdiff_initialize_target, workspace filesystem contract.';
revoke all on function patchdiff.initialize_workspace_target(text, text, text, text, numeric, numeric) from public;
grant execute on function patchdiff.initialize_workspace_target(text, text, text, text, numeric, numeric)
to patchdiff_editor;
