create or replace function patchdiff._ledger_facts(
    target_file_id uuid,
    pdcp_log_id uuid
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return (
        select coalesce(jsonb_agg(m.derived order by m.change_index), '[]')
        from patchdiff.manifest_ledger as m
        where m.target_file_id = _ledger_facts.target_file_id and m.pdcp_log_id = _ledger_facts.pdcp_log_id
    );
end
$function$;
comment on function patchdiff._ledger_facts(uuid, uuid) is
'The derived facts of one attempt''s changes in order, empty when the ledger has none.';
revoke all on function patchdiff._ledger_facts(uuid, uuid) from public;
