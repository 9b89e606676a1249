-- The views of the audit call it, with the rights of whoever reads them: hence the grant to pg_read_all_data. A record
-- can have thousands of changes, each of which is a row there, so only the one that is asked for is looked at closely.
create or replace function patchdiff.change_texts(
    target_file_id text,
    pdcp_log_id text,
    change_index bigint,
    out old_text text,
    out new_text text
) returns record
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_attempt record;
    v_member text;
    v_record text;
    v_change record;
begin
    select l.protocol_version, l.pdcp_content, l.before_version
    into v_attempt
    from patchdiff.append_only_pdcp_logs as l
    where
        l.target_file_id = patchdiff._target_id(change_texts.target_file_id)
        and l.pdcp_log_id = patchdiff._target_id(change_texts.pdcp_log_id)
        and l.status = 'accepted'
        and change_texts.change_index between 1 and 2147483647;
    if not found then
        return;
    end if;
    v_member := case v_attempt.protocol_version
        when 'patchdiff-tx/1' then 'edits'
        when 'patchdiff-tx/2' then 'operations'
    end;
    if v_member is null then
        v_record := v_attempt.pdcp_content;
    else
        v_record := '{"protocol":' || to_json(v_attempt.protocol_version) || ',"intent":"","' || v_member || '":['
            || (v_attempt.pdcp_content::jsonb -> v_member -> (change_texts.change_index - 1)::integer) || ']}';
    end if;
    select c.operation, c.matched, c.replacement
    into v_change
    from patchdiff._record_changes(v_attempt.protocol_version, v_record) as c
    where v_member is not null or c.change_index = change_texts.change_index;
    new_text := v_change.replacement;
    old_text := case
        when v_change.operation = 'replace_all'
            then patchdiff.content_at(change_texts.target_file_id, v_attempt.before_version)
        else v_change.matched
    end;
exception
    -- what is damaged is for patchdiff.verify_target to report: here it has no text
    when others then
        return;
end
$function$;
comment on function patchdiff.change_texts(text, text, bigint) is
'The texts of one change of an accepted attempt, by its one-based index: old_text, of a whole replacement the whole
text before it, and new_text. Both are null for anything else: an unknown or malformed id, a rejected attempt, no such
change, a damaged record; a damaged history has no old_text of a whole replacement. Contract: audit.';
revoke all on function patchdiff.change_texts(text, text, bigint) from public;
grant execute on function patchdiff.change_texts(text, text, bigint)
to patchdiff_editor, patchdiff_reader, pg_read_all_data;
