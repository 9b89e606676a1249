create or replace function patchdiff._with_contents(
    target_file_id uuid,
    log_sequences bigint[],
    entries jsonb
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_within constant boolean[] := patchdiff._within_page_budget(array(
        select octet_length(l.pdcp_content)::bigint
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _with_contents.target_file_id
            and l.log_sequence = any(_with_contents.log_sequences)
        order by l.log_sequence desc
    ));
begin
    return (
        select coalesce(jsonb_agg(
            e.entry || case
                when v_within[e.position] then jsonb_build_object('pdcp_content', l.pdcp_content)
                else '{"pdcp_content": null, "pdcp_content_omitted": "page_byte_budget"}'
            end
            order by e.position
        ), '[]')
        from jsonb_array_elements(_with_contents.entries) with ordinality as e (entry, position)
        inner join patchdiff.append_only_pdcp_logs as l
            on
                l.target_file_id = _with_contents.target_file_id
                and l.log_sequence = _with_contents.log_sequences[e.position]
    );
end
$function$;
comment on function patchdiff._with_contents(uuid, bigint[], jsonb) is
'A page''s log entries, given newest first like the log_sequences they belong to, each with its stored record, or
marked page_byte_budget where that does not fit. Contract: patchdiff_get_pdcp_log, content budget.';
revoke all on function patchdiff._with_contents(uuid, bigint[], jsonb) from public;
