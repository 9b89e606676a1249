create or replace function patchdiff._attempt_changes(
    attempt patchdiff.append_only_pdcp_logs,
    include_replaced_text boolean
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_accepted constant boolean := attempt.status = 'accepted';
    v_entries jsonb;
    v_texts jsonb;
    v_rationales text[];
    v_replaced text;
    v_failure text;
begin
    v_entries := patchdiff._ledger_answer(
        attempt.target_file_id,
        array(
            select m.ledger_sequence
            from patchdiff.manifest_ledger as m
            where m.target_file_id = attempt.target_file_id and m.pdcp_log_id = attempt.pdcp_log_id
            order by m.ledger_sequence
        ),
        false
    ) -> 'entries';
    begin
        select jsonb_agg(to_jsonb(c) order by c.change_index)
        into v_texts
        from patchdiff._record_changes(attempt.protocol_version, attempt.pdcp_content) as c;
    exception
        when sqlstate 'PD020' then
            v_failure := 'The stored record is no transaction of its protocol, so that the texts of its changes are unknown.';
    end;
    if v_accepted and include_replaced_text and v_texts #>> '{0,operation}' = 'replace_all' then
        begin
            v_replaced := patchdiff.content_at(attempt.target_file_id::text, attempt.before_version);
        exception
            when sqlstate 'PD030' or sqlstate 'PD031' then
                v_failure := 'The text before the replacement cannot be reconstructed: see patchdiff.verify_target.';
        end;
    end if;
    if not v_accepted then
        v_rationales := (patchdiff._record_intents(attempt.pdcp_content)).rationales;
        return jsonb_build_object(
            'changes', v_entries,
            'proposed_changes', (
                select jsonb_agg(
                    jsonb_build_object(
                        'change_index', c.i,
                        'change_id', c.change ->> 'change_id',
                        'operation', c.change ->> 'operation',
                        'span_start', c.change -> 'place',
                        'span_end', c.change -> 'place_end',
                        'old_text', c.change ->> 'matched',
                        'new_text', c.change ->> 'replacement',
                        'rationale', v_rationales[c.i],
                        'risk', c.change ->> 'risk'
                    )
                    order by c.i
                )
                from jsonb_array_elements(v_texts) with ordinality as c (change, i)
            ),
            'changes_failure', v_failure
        );
    end if;

    -- a text is shown only where it is the one that the ledger recorded
    select
        coalesce(
            jsonb_agg(
                e.entry || jsonb_build_object(
                    'old_text', case when e.fits_old then e.old_text end,
                    'new_text', case when e.fits_new then e.new_text end
                )
                order by e.i
            ),
            '[]'
        ),
        case
            when v_texts is null then v_failure
            when count(*) <> jsonb_array_length(v_texts)
                then 'The ledger does not hold one row for each change of the record: see patchdiff.verify_target.'
            when not bool_and(e.fits_new and coalesce(e.fits_old, e.old_text is null))
                then 'The texts of the stored record are not those that the ledger recorded: see patchdiff.verify_target.'
            else v_failure
        end
    into v_entries, v_failure
    from (
        select
            l.entry,
            l.i,
            t.old_text,
            t.change ->> 'replacement' as new_text,
            patchdiff._sha256_hex(t.old_text) = l.entry #>> '{derived,matched_sha256}' as fits_old,
            coalesce(
                patchdiff._sha256_hex(t.change ->> 'replacement') = l.entry #>> '{derived,replacement_sha256}', false
            ) as fits_new
        from jsonb_array_elements(v_entries) with ordinality as l (entry, i)
        left join (
            select
                c.change,
                c.i,
                case c.change ->> 'operation' when 'replace_all' then v_replaced else c.change ->> 'matched' end as old_text
            from jsonb_array_elements(v_texts) with ordinality as c (change, i)
        ) as t on t.i = (l.entry ->> 'change_index')::bigint
    ) as e;
    return jsonb_build_object('changes', v_entries, 'proposed_changes', null, 'changes_failure', v_failure);
end
$function$;
comment on function patchdiff._attempt_changes(patchdiff.append_only_pdcp_logs, boolean) is
'What get_attempt says of an attempt''s changes: changes (its ledger entries, with the texts of its record where they
have the hashes that the ledger recorded), proposed_changes (of a rejected attempt, with the places that it named) and
changes_failure. A whole replacement''s old text only with include_replaced_text. Contract: audit.';
revoke all on function patchdiff._attempt_changes(patchdiff.append_only_pdcp_logs, boolean) from public;
