create or replace function patchdiff.list_attempts(
    target_file_id text,
    "limit" bigint default 50,
    before_sequence bigint default null,
    status text default null
) returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_page constant jsonb := patchdiff.get_pdcp_log(
        list_attempts.target_file_id, list_attempts."limit", list_attempts.before_sequence, list_attempts.status
    );
begin
    return v_page || jsonb_build_object(
        'entries', (
            select coalesce(
                jsonb_agg(
                    e.entry || jsonb_build_object('source', l.source, 'editing_cycle_id', l.editing_cycle_id)
                    order by e.i
                ),
                '[]'
            )
            from jsonb_array_elements(v_page -> 'entries') with ordinality as e (entry, i)
            inner join patchdiff.append_only_pdcp_logs as l
                on
                    l.target_file_id = patchdiff._target_id(list_attempts.target_file_id)
                    and l.log_sequence = (e.entry ->> 'log_sequence')::bigint
        )
    );
end
$function$;
comment on function patchdiff.list_attempts(text, bigint, bigint, text) is
'A page of get_pdcp_log, without records, whose entries also say source and editing_cycle_id: for programs that show
the history to people. Arguments, order, paging and refusals are those of get_pdcp_log. Contract: audit.';
revoke all on function patchdiff.list_attempts(text, bigint, bigint, text) from public;
grant execute on function patchdiff.list_attempts(text, bigint, bigint, text) to patchdiff_editor, patchdiff_reader;
