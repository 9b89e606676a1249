create or replace function patchdiff._workspace_failure(
    target_file_id uuid,
    root_device numeric,
    root_inode numeric,
    export jsonb
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if exists (
        select from patchdiff.workspace_files as w
        where
            w.target_file_id = _workspace_failure.target_file_id
            and (w.root_device <> _workspace_failure.root_device or w.root_inode <> _workspace_failure.root_inode)
    ) then
        return jsonb_build_object(
            'failure_reason', 'workspace_root_mismatch',
            'code', 'workspace_root_mismatch',
            'failure_detail', 'The target belongs to another root directory than the one that is configured:'
            || ' initialize a new target from the file here.'
        );
    end if;
    if export ->> 'status' <> 'ok' then
        return jsonb_build_object(
            'failure_reason', export ->> 'code',
            'code', export ->> 'code',
            'failure_detail', 'The line endings of the source cannot be written again:'
            || ' choose canonical_lf or crlf as workspace_eol_format.'
        );
    end if;
    return null;
end
$function$;
comment on function patchdiff._workspace_failure(uuid, numeric, numeric, jsonb) is
'Why a target cannot be published below the root directory with this device and inode: it is bound to another one
(workspace_root_mismatch), or export, the answer of export_target in the format to be written, is a refusal, whose
code it has. Null when neither. Contract: workspace filesystem contract, and line endings and export formats.';
revoke all on function patchdiff._workspace_failure(uuid, numeric, numeric, jsonb) from public;
