create or replace function patchdiff.content_at(
    target_file_id text,
    version bigint
) returns text
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(content_at.target_file_id);
    v_current bigint;
    v_snapshot patchdiff.target_snapshots;
    v_replay record;
begin
    select t.version into v_current
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if v_current is null then
        raise exception 'no target has this id'
            using errcode = 'PD030', hint = 'Pass the target_file_id of an initialization on this database.';
    end if;
    if (content_at.version between 0 and v_current) is not true then
        raise exception 'the target has no version %', coalesce(content_at.version::text, 'null')
            using errcode = 'PD030', hint = format('Ask for a version from 0 to %s.', v_current);
    end if;
    select s.* into v_snapshot
    from patchdiff.target_snapshots as s
    where s.target_file_id = v_id and s.version <= content_at.version
    order by s.version desc
    limit 1;
    v_replay := patchdiff._replay(v_id, v_snapshot, content_at.version);
    if v_replay.failure is not null or v_replay.version <> content_at.version then
        raise exception 'version % cannot be reconstructed', content_at.version
            using
                errcode = 'PD031',
                detail = coalesce(
                    v_replay.failure ->> 'failure_detail', 'The attempts after version ' || v_replay.version || ' are missing.'
                ),
                hint = 'The recorded history is damaged: see patchdiff.verify_target for this target.';
    end if;
    return v_replay.content;
end
$function$;
comment on function patchdiff.content_at(text, bigint) is
'The canonical text of a target at one of its versions, reconstructed from the nearest snapshot at or before it and
checked against the recorded hash of every version on the way. Raises PD030 for an unknown target or a version that
it has not, PD031 when the history does not lead there.';
revoke all on function patchdiff.content_at(text, bigint) from public;
grant execute on function patchdiff.content_at(text, bigint) to patchdiff_editor, patchdiff_reader;
