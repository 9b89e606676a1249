-- The views of the audit call it, with the rights of whoever reads them: hence the grant to pg_read_all_data.
create or replace function patchdiff.change_texts(
    target_file_id text,
    pdcp_log_id text
) returns table (
    change_index bigint,
    old_text text,
    new_text text
)
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
cost 10000
rows 10
as $function$
declare
    v_row record;
begin
    select l.protocol_version, l.pdcp_content, l.before_version
    into v_row
    from patchdiff.append_only_pdcp_logs as l
    where
        l.target_file_id = patchdiff._target_id(change_texts.target_file_id)
        and l.pdcp_log_id = patchdiff._target_id(change_texts.pdcp_log_id)
        and l.status = 'accepted';
    if not found then
        return;
    end if;
    return query
    select
        c.change_index,
        case
            when c.operation = 'replace_all'
                then patchdiff.content_at(change_texts.target_file_id, v_row.before_version)
            else c.matched
        end,
        c.replacement
    from patchdiff._record_changes(v_row.protocol_version, v_row.pdcp_content) as c
    order by c.change_index;
exception
    -- a damaged record or history is for patchdiff.verify_target to report: here it has no texts
    when others then
        return;
end
$function$;
comment on function patchdiff.change_texts(text, text) is
'The texts of an accepted attempt''s changes, in order: one-based change_index, old_text and new_text. A whole
replacement''s old text is the whole text before it. No row for anything else: an unknown or malformed id, a rejected
attempt, a record or a history that is damaged. Contract: audit.';
revoke all on function patchdiff.change_texts(text, text) from public;
grant execute on function patchdiff.change_texts(text, text) to patchdiff_editor, patchdiff_reader, pg_read_all_data;
