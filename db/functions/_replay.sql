create or replace function patchdiff._replay(
    target_file_id uuid,
    snapshot patchdiff.target_snapshots,
    until_version bigint default null,
    out content text,
    out content_hash text,
    out version bigint,
    out replayed bigint,
    out failure jsonb
) returns record
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_attempt patchdiff.append_only_pdcp_logs;
    v_step record;
begin
    replayed := 0;
    if snapshot.content is null then
        failure := patchdiff._replay_failure('snapshot_missing', 'The snapshot to start from is missing.');
        return;
    end if;
    if patchdiff._sha256_hex(snapshot.content) <> snapshot.content_hash then
        failure := patchdiff._replay_failure('snapshot_altered', 'The snapshot does not have its recorded hash.');
        return;
    end if;
    if
        snapshot.version <> 0
        and (
            snapshot.snapshot_reason = 'initial'
            or not exists (
                select from patchdiff.append_only_pdcp_logs as l
                where
                    l.target_file_id = _replay.target_file_id
                    and l.after_version = snapshot.version
                    and l.after_hash = snapshot.content_hash
            )
        )
    then
        failure := patchdiff._replay_failure(
            'snapshot_altered', 'The snapshot is not of the version that the log recorded.'
        );
        return;
    end if;
    content := snapshot.content;
    content_hash := snapshot.content_hash;
    version := snapshot.version;
    for v_attempt in
        select l.*
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _replay.target_file_id
            and l.after_version > _replay.version
            and l.after_version <= coalesce(_replay.until_version, 9223372036854775807)
        order by l.after_version
    loop
        if
            v_attempt.before_version <> version
            or v_attempt.after_version <> version + 1
            or v_attempt.before_hash <> content_hash
        then
            failure := patchdiff._replay_failure(
                'record_missing',
                'The attempt does not follow from version ' || version || ', which was reached before it.'
            );
        else
            v_step := patchdiff._replay_attempt(v_attempt, content);
            failure := v_step.failure;
        end if;
        if failure is not null then
            failure := failure || jsonb_build_object(
                'log_sequence', v_attempt.log_sequence, 'pdcp_log_id', v_attempt.pdcp_log_id
            );
            return;
        end if;
        content := v_step.result;
        content_hash := v_attempt.after_hash;
        version := v_attempt.after_version;
        replayed := replayed + 1;
    end loop;
end
$function$;
comment on function patchdiff._replay(uuid, patchdiff.target_snapshots, bigint) is
'Reconstructs a target from a snapshot through its accepted attempts, up to a version or, for null, to the last:
text, hash and version that were reached, and how many attempts it took; or the failure, and how far it came.';
revoke all on function patchdiff._replay(uuid, patchdiff.target_snapshots, bigint) from public;
