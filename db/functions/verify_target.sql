create or replace function patchdiff.verify_target(
    target_file_id text
) returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(verify_target.target_file_id);
    v_target record;
    v_failures jsonb;
begin
    select t.filename, t.version, t.current_hash
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._target_refusal(verify_target.target_file_id);
    end if;
    v_failures := patchdiff._chain_failures(v_id)
        || patchdiff._replay_failures(v_id)
        || patchdiff._ledger_failures(v_id)
        || patchdiff._log_intent_failures(v_id)
        || patchdiff._snapshot_failures(v_id)
        || patchdiff._cycle_failures(v_id);
    return jsonb_build_object(
        'status', case when v_failures = '[]' then 'intact' else 'damaged' end,
        'target_file_id', v_id,
        'filename', v_target.filename,
        'version', v_target.version,
        'current_hash', v_target.current_hash,
        'checks', (
            select jsonb_object_agg(
                c.name,
                not v_failures @> jsonb_build_array(jsonb_build_object('check', c.name))
            )
            from unnest(array['chain', 'replay', 'ledger', 'log_intents', 'snapshots', 'cycles']) as c (name)
        ),
        'failures', v_failures
    );
end
$function$;
comment on function patchdiff.verify_target(text) is
'Reports the integrity of one target and changes nothing. checks names each check with true or false: chain (the
hash chain), replay (the recorded spans make the stored text, hash and version), ledger (one row for each accepted
change, saying what its attempt and record say), log_intents (the log''s intents are the records''), snapshots
(texts, hashes and versions), cycles (one open, in order). failures lists what is wrong: check, code,
failure_detail, and log_sequence where one attempt is meant; at most 100 a check. Answers intact or damaged, with
filename, version and current_hash. Damage never raises. Refuses a malformed id (invalid_target_id), not_found for
an unknown one. Contract: audit.';
revoke all on function patchdiff.verify_target(text) from public;
grant execute on function patchdiff.verify_target(text) to patchdiff_editor, patchdiff_reader, pg_read_all_data;
