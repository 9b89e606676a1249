create or replace function patchdiff.export_target(
    target_file_id text,
    format text default 'original_text'
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_formats constant text[] := array['original_text', 'canonical_lf', 'crlf', 'original_eol'];
    v_id constant uuid := patchdiff._target_id(export_target.target_file_id);
    v_target record;
    v_eol text;
    v_content text;
begin
    if v_id is null then
        return patchdiff._target_refusal(export_target.target_file_id);
    end if;
    if (export_target.format = any (v_formats)) is not true then
        return patchdiff._refusal(
            'invalid_argument',
            'unsupported_export_format',
            'format must be one of ' || array_to_string(v_formats, ', ') || '.'
        ) || jsonb_build_object('allowed_formats', v_formats);
    end if;
    select t.filename, t.target_type, t.current_content, t.version, t.current_hash, t.source_line_endings
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._target_refusal(export_target.target_file_id);
    end if;

    v_eol := patchdiff._export_line_ending(export_target.format, v_target.source_line_endings ->> 'style');
    if v_eol is null then
        return patchdiff._original_eol_refusal(v_target.source_line_endings ->> 'style');
    end if;
    v_content := case v_eol
        when 'crlf' then replace(v_target.current_content, E'\n', E'\r\n')
        when 'cr' then replace(v_target.current_content, E'\n', E'\r')
        else v_target.current_content
    end;
    return jsonb_build_object(
        'status', 'ok',
        'filename', v_target.filename,
        'content_type', v_target.target_type,
        'target_type', v_target.target_type,
        'content', v_content,
        'version', v_target.version,
        'hash', v_target.current_hash,
        'current_hash', v_target.current_hash,
        'format', export_target.format,
        'content_eol', v_eol,
        'content_sha256', patchdiff._sha256_hex(v_content),
        'source_line_endings', v_target.source_line_endings
    );
end
$function$;
comment on function patchdiff.export_target(text, text) is
'A target''s text with the line endings of a format: LF for original_text and canonical_lf, CRLF for crlf, and
the recorded uniform style of the upload for original_eol. content_sha256 is over the returned text''s UTF-8
bytes; hash and current_hash stay those of the canonical text. Refuses with invalid_argument: a malformed id
(invalid_target_id), any other format (unsupported_export_format), original_eol after a mixed upload
(original_eol_unrecoverable) or without recorded facts (source_line_endings_unknown). not_found for an unknown
target. Contract: line endings and export formats, and section 1.';
revoke all on function patchdiff.export_target(text, text) from public;
grant execute on function patchdiff.export_target(text, text) to patchdiff_editor, patchdiff_reader;
