create or replace function patchdiff._ledger_answer(
    target_file_id uuid,
    ledger_sequences bigint[],
    has_more boolean
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_answer jsonb;
    v_lacks_intents boolean;
begin
    -- the whole answer from whole rows at once: jsonb within jsonb would be written twice
    select
        jsonb_build_object(
            'entries', coalesce(array_agg(e order by e.ledger_sequence), array[]::record[]),
            'has_more', _ledger_answer.has_more,
            'next_sequence', case when _ledger_answer.has_more then min(e.ledger_sequence) end
        ),
        bool_or(e.transaction_intent is null)
    into v_answer, v_lacks_intents
    -- in order, and one at a time: the primary key serves, however many rows a target is thought to have
    from unnest(_ledger_answer.ledger_sequences) as s (sequence)
    cross join lateral (
        select
            m.ledger_sequence,
            m.pdcp_log_id,
            m.log_sequence,
            m.before_version,
            m.after_version,
            m.editing_cycle_id,
            m.change_index,
            m.change_id,
            m.intent,
            m.transaction_intent,
            m.rationale,
            m.input_state,
            m.output_state,
            m.affected_region,
            m.user_visible_change,
            m.risk,
            m.origin,
            m.derived,
            patchdiff._utc_timestamp(m.created_at) as created_at
        from patchdiff.manifest_ledger as m
        where
            m.target_file_id = _ledger_answer.target_file_id
            and m.ledger_sequence between s.sequence and s.sequence
        order by m.ledger_sequence
        limit 1
    ) as e;
    if v_lacks_intents then
        v_answer := jsonb_set(v_answer, '{entries}', patchdiff._with_ledger_intents(
            _ledger_answer.target_file_id, v_answer -> 'entries'
        ));
    end if;
    return v_answer;
end
$function$;
comment on function patchdiff._ledger_answer(uuid, bigint[], boolean) is
'The answer of the ledger for the page of a target''s ledger_sequences, its entries oldest first. A record is opened
only for the intents of changes that lack them (transaction_intent null). Contract: patchdiff_get_manifest_ledger.';
revoke all on function patchdiff._ledger_answer(uuid, bigint[], boolean) from public;
