create or replace function patchdiff.save_checkpoint(
    target_file_id text,
    guards jsonb,
    export_after_save boolean default false
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_snapshot_id constant uuid := gen_random_uuid();
    v_cycle_id constant uuid := gen_random_uuid();
    v_now timestamptz;
    v_target record;
    v_failure jsonb;
begin
    if save_checkpoint.export_after_save is null then
        return patchdiff._refusal('invalid_argument', null, 'export_after_save must be true or false.');
    end if;
    select
        t.target_file_id, t.version, t.current_hash, t.current_content, t.active_editing_cycle_id
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(save_checkpoint.target_file_id)
    for update;
    if not found then
        return patchdiff._target_refusal(save_checkpoint.target_file_id);
    end if;
    v_failure := patchdiff._save_failure(guards, v_target.version, v_target.current_hash, v_target.current_content);
    if v_failure is not null then
        return patchdiff._save_rejection(
            v_target.target_file_id, v_target.current_hash, v_target.version, v_failure
        );
    end if;

    v_now := clock_timestamp();
    insert into patchdiff.target_snapshots (
        target_file_id, snapshot_id, editing_cycle_id, snapshot_reason, version, content, content_hash, created_at
    ) values (
        v_target.target_file_id, v_snapshot_id, v_target.active_editing_cycle_id, 'save_checkpoint',
        v_target.version, v_target.current_content, v_target.current_hash, v_now
    );
    update patchdiff.editing_cycles as c
    set closed_at = v_now, closed_version = v_target.version
    where
        c.target_file_id = v_target.target_file_id
        and c.editing_cycle_id = v_target.active_editing_cycle_id;
    insert into patchdiff.editing_cycles (target_file_id, editing_cycle_id, opened_at, opened_version)
    values (v_target.target_file_id, v_cycle_id, v_now, v_target.version);
    update patchdiff.cloud_target_files as t
    set active_editing_cycle_id = v_cycle_id
    where t.target_file_id = v_target.target_file_id;
    return jsonb_build_object(
        'status', 'saved',
        'target_file_id', v_target.target_file_id,
        'snapshot_id', v_snapshot_id,
        'closed_editing_cycle_id', v_target.active_editing_cycle_id,
        'new_editing_cycle_id', v_cycle_id,
        'current_hash', v_target.current_hash,
        'version', v_target.version
    ) || case
        when save_checkpoint.export_after_save
            then jsonb_build_object('export', patchdiff.export_target(save_checkpoint.target_file_id))
        else '{}'
    end;
end
$function$;
comment on function patchdiff.save_checkpoint(text, jsonb, boolean) is
'Saves a target: keeps its text as a snapshot, closes the open editing cycle and opens the next, and changes no
text, hash or version. guards holds expected_target_version and expected_current_hash as the caller sent them,
each optional; all that are given must hold. export_after_save adds export, the answer of export_target in its
default format. Answers saved; rejected, with failure_reason context_invalid (a malformed guard),
target_version_mismatch, target_hash_mismatch or target_diverged, and nothing written; the refusals of a malformed
or unknown target; invalid_argument for a null export_after_save. For programs that pass guards on unjudged:
patchdiff.save is the same with typed guards. Contract: patchdiff_save.';
revoke all on function patchdiff.save_checkpoint(text, jsonb, boolean) from public;
grant execute on function patchdiff.save_checkpoint(text, jsonb, boolean) to patchdiff_editor;
