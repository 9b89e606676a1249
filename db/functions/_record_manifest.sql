create or replace function patchdiff._record_manifest(
    protocol_version text,
    pdcp_content text
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_intents record;
begin
    v_intents := patchdiff._record_intents(_record_manifest.pdcp_content);
    return (
        select jsonb_build_object(
            'transaction_intent', v_intents.transaction_intent,
            'changes', jsonb_agg(
                jsonb_build_object(
                    'change_id', c.change_id,
                    'risk', c.risk,
                    'rationale', r.rationale,
                    'facts', patchdiff._change_facts(
                        c.change_id, c.change_index, c.operation, c.place, c.matched, c.replacement
                    ) - case
                        -- a batch counts from its scopes, which stand in its receipts
                        when c.place is null or c.observation_id is not null
                            then array['span_start', 'span_end'] else '{}'
                    end
                    - case
                        when c.matched is null
                            then array['span_end', 'matched_chars', 'matched_sha256'] else '{}'
                    end
                )
                order by c.change_index
            )
        )
        from patchdiff._record_changes(_record_manifest.protocol_version, _record_manifest.pdcp_content) as c
        left join unnest(v_intents.rationales) with ordinality as r (rationale, position)
            on c.change_index = r.position
    );
exception
    when others then
        return null;
end
$function$;
comment on function patchdiff._record_manifest(text, text) is
'What a stored record says of its ledger rows: transaction_intent, and changes in order, each with change_id, risk,
rationale and facts (those of its derived facts that the record alone decides). Null for a text that is no record
of the protocol; raises nothing.';
revoke all on function patchdiff._record_manifest(text, text) from public;
