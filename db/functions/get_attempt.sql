create or replace function patchdiff.get_attempt(
    target_file_id text,
    pdcp_log_id text,
    include_replaced_text boolean default true
) returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_log_id constant uuid := patchdiff._target_id(get_attempt.pdcp_log_id);
    v_targets uuid[];
    v_attempt patchdiff.append_only_pdcp_logs;
begin
    if get_attempt.target_file_id is not null and not exists (
        select from patchdiff.cloud_target_files as t
        where t.target_file_id = patchdiff._target_id(get_attempt.target_file_id)
    ) then
        return patchdiff._target_refusal(get_attempt.target_file_id);
    end if;
    if v_log_id is null then
        return patchdiff._refusal(
            'invalid_argument', null,
            'pdcp_log_id must be a lowercase hyphenated UUID: pass the pdcp_log_id of a log entry unchanged.'
        );
    end if;
    if get_attempt.include_replaced_text is null then
        return patchdiff._refusal('invalid_argument', null, 'include_replaced_text must be true or false.');
    end if;
    if get_attempt.target_file_id is null then
        v_targets := array(
            select l.target_file_id
            from patchdiff.append_only_pdcp_logs as l
            where l.pdcp_log_id = v_log_id
            limit 2
        );
        if cardinality(v_targets) > 1 then
            return patchdiff._refusal(
                'invalid_argument', null, 'Several targets have an attempt with this pdcp_log_id: pass target_file_id too.'
            );
        end if;
    else
        v_targets := array[get_attempt.target_file_id::uuid];
    end if;
    select l.*
    into v_attempt
    from patchdiff.append_only_pdcp_logs as l
    where l.target_file_id = v_targets[1] and l.pdcp_log_id = v_log_id;
    if not found then
        return patchdiff._refusal(
            'not_found', null,
            'No attempt' || case when get_attempt.target_file_id is null then '' else ' of the target' end
            || ' has the pdcp_log_id ' || v_log_id || ': pass that of a log entry.'
        );
    end if;
    return (patchdiff._log_answer(v_attempt.target_file_id, array[v_attempt.log_sequence], false, true) #> '{entries,0}')
        || jsonb_build_object(
            'target_file_id', v_attempt.target_file_id,
            'filename', (
                select t.filename
                from patchdiff.cloud_target_files as t
                where t.target_file_id = v_attempt.target_file_id
            ),
            'editing_cycle_id', v_attempt.editing_cycle_id,
            'source', v_attempt.source,
            'transaction_intent', (patchdiff._record_intents(v_attempt.pdcp_content)).transaction_intent,
            'request_envelope', v_attempt.request_envelope,
            'previous_row_hash', v_attempt.previous_row_hash,
            'row_hash', v_attempt.row_hash
        )
        || patchdiff._attempt_changes(v_attempt, get_attempt.include_replaced_text);
end
$function$;
comment on function patchdiff.get_attempt(text, text, boolean) is
'One attempt whole: the fields of its log entry with pdcp_content, target_file_id, filename, editing_cycle_id, source,
transaction_intent (the record''s, whole), request_envelope (with the guards) and both row hashes; changes, the ledger''s entries with old_text and new_text; proposed_changes, what a rejected
attempt asked for; changes_failure, a sentence where texts cannot be shown, or null. A whole replacement''s old_text
is reconstructed, and null where it cannot be or include_replaced_text is false. A null target_file_id looks in all
targets. Refuses with invalid_argument a malformed id (invalid_target_id for the target''s), a null
include_replaced_text, and an id that several targets have; not_found for an unknown one. Damage never raises.
Contract: audit.';
revoke all on function patchdiff.get_attempt(text, text, boolean) from public;
grant execute on function patchdiff.get_attempt(text, text, boolean) to patchdiff_editor, patchdiff_reader;
