create or replace function patchdiff._with_ledger_intents(
    target_file_id uuid,
    entries jsonb
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_entries jsonb;
begin
    with page as (
        select e.entry, e.position, c.*
        from jsonb_array_elements(_with_ledger_intents.entries) with ordinality as e (entry, position)
        cross join lateral jsonb_to_record(e.entry) as c (
            pdcp_log_id uuid, change_index bigint, intent text, transaction_intent text, rationale text
        )
    ),

    -- each attempt once, however many of its changes the page has
    attempts as (
        select p.pdcp_log_id, bool_or(p.intent is null) as lacks_intent
        from page as p
        where p.transaction_intent is null
        group by p.pdcp_log_id
    ),

    records as (
        select a.pdcp_log_id, l.protocol_version, r.transaction_intent, r.rationales
        from attempts as a
        -- one at a time: see _log_answer
        cross join lateral (
            select l.protocol_version, l.pdcp_content
            from patchdiff.append_only_pdcp_logs as l
            where l.target_file_id = _with_ledger_intents.target_file_id and l.pdcp_log_id = a.pdcp_log_id
            limit 1
        ) as l
        -- strict: a whole replacement whose change has its intent is not opened
        cross join lateral patchdiff._record_intents(
            case when a.lacks_intent or l.protocol_version <> 'patchdiff-tx/3' then l.pdcp_content end
        ) as r
    ),

    completed as (
        select
            p.entry,
            p.position,
            p.intent,
            coalesce(p.rationale, r.rationales[p.change_index]) as rationale,
            coalesce(
                p.transaction_intent,
                r.transaction_intent,
                case when r.protocol_version = 'patchdiff-tx/3' then p.intent end
            ) as transaction_intent
        from page as p
        left join records as r on p.pdcp_log_id = r.pdcp_log_id and p.transaction_intent is null
    )

    select jsonb_agg(
        c.entry || jsonb_build_object(
            'intent', coalesce(c.intent, c.rationale, c.transaction_intent),
            'transaction_intent', c.transaction_intent,
            'rationale', c.rationale
        )
        order by c.position
    )
    into v_entries
    from completed as c;
    return v_entries;
end
$function$;
comment on function patchdiff._with_ledger_intents(uuid, jsonb) is
'A page''s ledger entries, with transaction_intent, rationale and a missing intent read from the record in those
that lack them (transaction_intent null). The transaction''s intent of a whole replacement is the stored intent of
its one change, where there is one. No other record is opened. Contract: patchdiff_get_manifest_ledger, Joining.';
revoke all on function patchdiff._with_ledger_intents(uuid, jsonb) from public;
