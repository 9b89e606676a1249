create or replace function patchdiff._ledger_entries(
    target_file_id uuid,
    ledger_sequences bigint[]
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_entries jsonb;
begin
    select jsonb_agg(
        jsonb_build_object(
            'ledger_sequence', m.ledger_sequence,
            'pdcp_log_id', m.pdcp_log_id,
            'log_sequence', m.log_sequence,
            'before_version', m.before_version,
            'after_version', m.after_version,
            'editing_cycle_id', m.editing_cycle_id,
            'change_index', m.change_index,
            'change_id', m.change_id,
            'intent', m.intent,
            'transaction_intent', m.transaction_intent,
            'rationale', m.rationale,
            'input_state', m.input_state,
            'output_state', m.output_state,
            'affected_region', m.affected_region,
            'user_visible_change', m.user_visible_change,
            'risk', m.risk,
            'origin', m.origin,
            'derived', m.derived,
            'created_at', patchdiff._utc_timestamp(m.created_at)
        )
        order by m.ledger_sequence
    )
    into v_entries
    from patchdiff.manifest_ledger as m
    where
        m.target_file_id = _ledger_entries.target_file_id
        and m.ledger_sequence = any (_ledger_entries.ledger_sequences);
    return coalesce(v_entries, '[]');
end
$function$;
comment on function patchdiff._ledger_entries(uuid, bigint[]) is
'The ledger''s entries for a target''s ledger_sequences, oldest first. Contract: patchdiff_get_manifest_ledger.';
revoke all on function patchdiff._ledger_entries(uuid, bigint[]) from public;
