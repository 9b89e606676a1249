create or replace function patchdiff.open_publication(
    target_file_id text,
    guards jsonb,
    export_after_save boolean,
    workspace_eol_format text,
    root_device numeric,
    root_inode numeric,
    out answer jsonb,
    out relative_path text,
    out content text,
    out content_eol text,
    out baseline_sha256 text,
    out baseline_bytes bigint
) returns record
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_formats constant text[] := array['original_eol', 'canonical_lf', 'crlf'];
    v_target record;
    v_file record;
    v_export jsonb;
    v_failure jsonb;
begin
    if (open_publication.workspace_eol_format = any (v_formats)) is not true then
        answer := patchdiff._refusal(
            'invalid_argument', null, 'workspace_eol_format must be one of ' || array_to_string(v_formats, ', ') || '.'
        );
        return;
    end if;
    select t.target_file_id, t.filename, t.version, t.current_hash, t.current_content
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(open_publication.target_file_id)
    for update;
    v_export := patchdiff.export_target(open_publication.target_file_id, open_publication.workspace_eol_format);
    v_failure := patchdiff._workspace_failure(
        v_target.target_file_id, open_publication.root_device, open_publication.root_inode, v_export
    );
    -- what the save itself would refuse is said first
    if v_target.target_file_id is not null and v_failure is not null and patchdiff._save_failure(
        guards, v_target.version, v_target.current_hash, v_target.current_content
    ) is null then
        answer := patchdiff._save_rejection(
            v_target.target_file_id, v_target.current_hash, v_target.version, v_failure
        );
        return;
    end if;
    answer := patchdiff.save_checkpoint(open_publication.target_file_id, guards, export_after_save);
    if answer ->> 'status' <> 'saved' then
        return;
    end if;

    content := v_export ->> 'content';
    content_eol := v_export ->> 'content_eol';
    select w.relative_path, w.disk_sha256, w.disk_bytes
    into v_file
    from patchdiff.workspace_files as w
    where w.target_file_id = v_target.target_file_id;
    relative_path := coalesce(v_file.relative_path, v_target.filename);
    baseline_sha256 := v_file.disk_sha256;
    baseline_bytes := v_file.disk_bytes;
    insert into patchdiff.workspace_files as w (
        target_file_id, root_device, root_inode, relative_path, disk_sha256, disk_bytes, snapshot_id, recorded_at
    ) values (
        v_target.target_file_id, open_publication.root_device, open_publication.root_inode,
        open_publication.relative_path, v_export ->> 'content_sha256', octet_length(open_publication.content),
        (answer ->> 'snapshot_id')::uuid, clock_timestamp()
    )
    on conflict on constraint workspace_files_pkey do update
    set
        disk_sha256 = excluded.disk_sha256,
        disk_bytes = excluded.disk_bytes,
        snapshot_id = excluded.snapshot_id,
        recorded_at = excluded.recorded_at;
end
$function$;
comment on function patchdiff.open_publication(text, jsonb, boolean, text, numeric, numeric) is
'The database''s part of a save that publishes the text to a file below the root directory with this device and
inode. Locks and judges the target, saves it as save_checkpoint does, and records the bytes to be written as the
file''s new baseline. The caller writes them and then commits, or rolls back when it cannot: call it in a
transaction of its own. workspace_eol_format is original_eol, canonical_lf or crlf. answer is the tool''s; the rest
is null unless it is saved: relative_path below the root, content with content_eol (lf, crlf or cr), and the bytes
that must be on disk before, by SHA-256 and number, null for a file that must not exist yet. Refuses, with nothing
written, what save_checkpoint refuses; another format (invalid_argument); a target bound to another root
(workspace_root_mismatch); original_eol where it is unrecoverable. Contract: patchdiff_save, publication outcomes.';
revoke all on function patchdiff.open_publication(text, jsonb, boolean, text, numeric, numeric) from public;
grant execute on function patchdiff.open_publication(text, jsonb, boolean, text, numeric, numeric) to patchdiff_editor;
