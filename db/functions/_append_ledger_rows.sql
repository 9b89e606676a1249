create or replace function patchdiff._append_ledger_rows(
    log_row patchdiff.append_only_pdcp_logs,
    facts jsonb,
    risks text[],
    transaction_intent text,
    rationales text[]
) returns void
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    insert into patchdiff.manifest_ledger (
        target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id,
        before_version, after_version, change_index, change_id,
        intent, transaction_intent, rationale, risk, origin, derived, created_at
    )
    select
        log_row.target_file_id, nextval('patchdiff.ledger_sequence'), log_row.pdcp_log_id,
        log_row.log_sequence, log_row.editing_cycle_id, log_row.before_version, log_row.after_version,
        f.position, f.fact ->> 'change_id',
        coalesce(rationales[f.position], _append_ledger_rows.transaction_intent),
        _append_ledger_rows.transaction_intent, rationales[f.position], risks[f.position],
        'typed', f.fact, log_row.created_at
    from jsonb_array_elements(facts) with ordinality as f (fact, position)
    order by f.position;
end
$function$;
comment on function patchdiff._append_ledger_rows(
    patchdiff.append_only_pdcp_logs, jsonb, text[], text, text[]
) is
'Inserts one ledger row for each fact of an accepted attempt, in order. The caller holds the target''s
lock.';
revoke all on function patchdiff._append_ledger_rows(
    patchdiff.append_only_pdcp_logs, jsonb, text[], text, text[]
) from public;
