create or replace function patchdiff.initialize_target(
    filename text,
    content text,
    content_type text default 'text/plain',
    project_id text default null
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target_file_id constant uuid := gen_random_uuid();
    v_editing_cycle_id constant uuid := gen_random_uuid();
    v_detail text;
    v_facts jsonb;
    v_content text;
    v_hash text;
begin
    v_detail := case
        when coalesce(initialize_target.filename, '') = ''
            then 'filename must be a string of at least one character.'
        when initialize_target.content is null
            then 'content must be a string: pass "" for an empty document.'
        when initialize_target.content_type is null
            then 'content_type must be a string: leave it out for text/plain.'
        when initialize_target.project_id
            !~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
            then 'project_id must be a hyphenated UUID or null.'
    end;
    if v_detail is not null then
        return patchdiff._refusal('invalid_argument', null, v_detail);
    end if;

    v_facts := patchdiff._line_ending_facts(initialize_target.content);
    v_content := patchdiff._canonical_text(initialize_target.content);
    v_hash := case
        when (v_facts ->> 'normalized')::boolean then patchdiff._sha256_hex(v_content)
        else v_facts ->> 'source_sha256'
    end;
    insert into patchdiff.cloud_target_files (
        target_file_id, filename, target_type, project_id, current_content, current_hash,
        active_editing_cycle_id, source_line_endings
    ) values (
        v_target_file_id, initialize_target.filename, initialize_target.content_type,
        initialize_target.project_id::uuid, v_content, v_hash, v_editing_cycle_id, v_facts
    );
    insert into patchdiff.editing_cycles (target_file_id, editing_cycle_id, opened_version)
    values (v_target_file_id, v_editing_cycle_id, 0);
    insert into patchdiff.target_snapshots (
        target_file_id, snapshot_id, editing_cycle_id, snapshot_reason, version, content, content_hash
    ) values (
        v_target_file_id, gen_random_uuid(), v_editing_cycle_id, 'initial', 0, v_content, v_hash
    );
    return jsonb_build_object(
        'status', 'ok',
        'target_file_id', v_target_file_id,
        'filename', initialize_target.filename,
        'target_type', initialize_target.content_type,
        'version', 0,
        'current_hash', v_hash,
        'active_editing_cycle_id', v_editing_cycle_id,
        'source_line_endings', v_facts
    );
end
$function$;
comment on function patchdiff.initialize_target(text, text, text, text) is
'Makes a target from a document: its row with the text in canonical LF form, the recorded line endings of the
raw text, one open editing cycle, and the initial snapshot. Answers the tool''s fields; sizes in
source_line_endings are code points and UTF-8 bytes. Refuses with invalid_argument, and makes nothing: a null
or empty filename, a null content or content_type, a project_id that is no hyphenated UUID.
Contract: section 1, and line endings and export formats.';
revoke all on function patchdiff.initialize_target(text, text, text, text) from public;
grant execute on function patchdiff.initialize_target(text, text, text, text) to patchdiff_editor;
