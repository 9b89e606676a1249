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
    -- in order, and one at a time: see _log_answer
    v_within constant boolean[] := patchdiff._within_page_budget(array(
        select octet_length(r.pdcp_content)::bigint
        from unnest(_with_contents.log_sequences) with ordinality as s (sequence, position)
        cross join lateral (
            select l.pdcp_content
            from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = _with_contents.target_file_id
                and l.log_sequence between s.sequence and s.sequence
            order by l.log_sequence
            limit 1
        ) as r
        order by s.position
    ));
begin
    return (
        select coalesce(jsonb_agg(
            e.entry || case
                when v_within[e.position] then jsonb_build_object('pdcp_content', r.pdcp_content)
                else '{"pdcp_content": null, "pdcp_content_omitted": "page_byte_budget"}'
            end
            order by e.position
        ), '[]')
        from jsonb_array_elements(_with_contents.entries) with ordinality as e (entry, position)
        cross join lateral (
            select l.pdcp_content
            from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = _with_contents.target_file_id
                and l.log_sequence between _with_contents.log_sequences[e.position]
                and _with_contents.log_sequences[e.position]
            order by l.log_sequence
            limit 1
        ) as r
    );
end
$function$;
comment on function patchdiff._with_contents(uuid, bigint[], jsonb) is
'A page''s log entries, given newest first like the log_sequences they belong to, each with its stored record, or
marked page_byte_budget where that does not fit. Contract: patchdiff_get_pdcp_log, content budget.';
revoke all on function patchdiff._with_contents(uuid, bigint[], jsonb) from public;
