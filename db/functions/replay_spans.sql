create or replace function patchdiff.replay_spans(
    target_file_id text
) returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(replay_spans.target_file_id);
    v_target record;
    v_snapshot patchdiff.target_snapshots;
    v_replay record;
    v_missing bigint;
    v_checks jsonb;
begin
    select t.version, t.current_hash, t.current_content into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._target_refusal(replay_spans.target_file_id);
    end if;
    select s.* into v_snapshot
    from patchdiff.target_snapshots as s
    where s.target_file_id = v_id and s.snapshot_reason = 'initial';
    v_replay := patchdiff._replay(v_id, v_snapshot);
    if v_replay.failure is null then
        v_missing := patchdiff._missing_attempt(v_id);
        if v_missing is not null then
            v_replay.failure := patchdiff._replay_failure(
                'record_missing', 'An attempt is missing from the log, or was put there by hand.', v_missing
            );
        end if;
    end if;
    if v_replay.failure is not null then
        return v_replay.failure || jsonb_build_object('target_file_id', v_id);
    end if;
    v_checks := jsonb_build_object(
        'content_matches', v_target.current_content = v_replay.content,
        'stored_hash_matches', v_target.current_hash = v_replay.content_hash,
        'recomputed_hash_matches',
        patchdiff._sha256_hex(patchdiff._canonical_text(v_target.current_content)) = v_replay.content_hash,
        'version_matches', v_target.version = v_replay.version
    );
    return jsonb_build_object(
        'status', 'success',
        'target_file_id', v_id,
        'reconstructed_hash', v_replay.content_hash,
        'current_hash', v_target.current_hash,
        'reconstructed_version', v_replay.version,
        'current_version', v_target.version,
        'accepted_transactions_replayed', v_replay.replayed,
        'materialized_state_matches', not v_checks @? '$.* ? (@ == false)',
        'materialized_state_checks', v_checks
    );
end
$function$;
comment on function patchdiff.replay_spans(text) is
'Reconstructs a target from its initial snapshot in SQL alone: every accepted record is applied at the places that
the ledger recorded, and the result is compared with what is stored. Answers the fields of patchdiff_replay; a
reconstruction that succeeds can still report a divergence in materialized_state_checks. status failed, with
failure_reason replay_protocol_invalid, a code, and the attempt at fault, when a record, a ledger row or the snapshot
is missing or altered, or when a record''s runtime is not supported. Writes and repairs nothing. invalid_argument
with code invalid_target_id for a malformed id, not_found for an unknown target. Contract: patchdiff_replay.';
revoke all on function patchdiff.replay_spans(text) from public;
grant execute on function patchdiff.replay_spans(text) to patchdiff_editor, patchdiff_reader;
