create or replace function patchdiff.get_target(
    target_file_id text
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_answer jsonb;
begin
    select jsonb_build_object(
        'status', 'ok',
        'target_file_id', t.target_file_id,
        'filename', t.filename,
        'target_type', t.target_type,
        'current_content', t.current_content,
        'current_hash', t.current_hash,
        'version', t.version,
        'active_editing_cycle_id', t.active_editing_cycle_id,
        'source_line_endings', t.source_line_endings
    ) into v_answer
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(get_target.target_file_id);
    return coalesce(v_answer, patchdiff._target_refusal(get_target.target_file_id));
end
$function$;
comment on function patchdiff.get_target(text) is
'A target''s metadata, whole canonical text, hash, version, open cycle and recorded source line endings, from
one observation. Refuses a malformed id (invalid_target_id) and answers not_found for an unknown one.
Contract: section 1.';
revoke all on function patchdiff.get_target(text) from public;
grant execute on function patchdiff.get_target(text) to patchdiff_editor, patchdiff_reader;
