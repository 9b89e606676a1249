create or replace function patchdiff._replay_attempt(
    attempt patchdiff.append_only_pdcp_logs,
    content text,
    out result text,
    out failure jsonb
) returns record
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_facts jsonb;
    v_applied record;
    v_receipts patchdiff.target_scope_observations[];
begin
    if patchdiff._sha256_hex(attempt.pdcp_content) <> attempt.pdcp_content_hash then
        failure := patchdiff._replay_failure(
            'record_altered', 'The record does not have its recorded hash.'
        );
    elsif not patchdiff._is_replayable_pair(
        attempt.protocol_version, attempt.runtime_version, attempt.pdcp_content
    ) then
        failure := patchdiff._replay_failure(
            'unsupported_runtime',
            'No runtime of this version replays the record under its recorded protocol and runtime.'
        );
    end if;
    v_receipts := patchdiff._consumed_receipts(attempt.target_file_id, attempt.pdcp_log_id);
    failure := coalesce(failure, patchdiff._receipts_failure(attempt, v_receipts, content));
    if failure is not null then
        return;
    end if;
    v_facts := patchdiff._ledger_facts(attempt.target_file_id, attempt.pdcp_log_id);
    v_applied := patchdiff._apply_record(
        attempt.protocol_version,
        attempt.pdcp_content,
        content,
        length(content) = octet_length(content),
        array(
            select case when f.start ~ '^[0-9]{1,10}$' then f.start::bigint end
            from (
                select a.fact ->> 'span_start' as start, a.i
                from jsonb_array_elements(v_facts) with ordinality as a (fact, i)
            ) as f
            order by f.i
        ),
        null,
        nullif(v_receipts, '{}')
    );
    if v_applied.misfit is not null then
        failure := patchdiff._replay_failure(
            'record_not_applicable', 'The record does not apply at its recorded places: ' || v_applied.misfit || '.'
        );
    elsif v_applied.facts <> v_facts then
        failure := patchdiff._replay_failure(
            'ledger_altered', 'The ledger''s facts are not those of the record''s changes.'
        );
    elsif encode(sha256(v_applied.result), 'hex') <> attempt.after_hash then
        failure := patchdiff._replay_failure(
            'result_differs', 'The changes do not lead to the recorded hash.'
        );
    else
        result := convert_from(v_applied.result, 'UTF8');
    end if;
exception
    when sqlstate 'PD020' then
        failure := patchdiff._replay_failure(
            'record_altered', 'The record is no transaction of its recorded protocol.'
        );
    when sqlstate 'PD021' then
        failure := patchdiff._replay_failure(
            'ledger_altered', 'The ledger does not hold one usable fact for each change of the record.'
        );
end
$function$;
comment on function patchdiff._replay_attempt(patchdiff.append_only_pdcp_logs, text) is
'Applies an accepted attempt anew to a text: at the places that the ledger recorded, with the texts of the record.
Answers the resulting text, or the failure of a replay: the record''s hash, its runtime, the fit of places and texts,
every fact of the ledger and the resulting hash are checked; of an observed attempt also its receipts.';
revoke all on function patchdiff._replay_attempt(patchdiff.append_only_pdcp_logs, text) from public;
