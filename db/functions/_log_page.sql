-- One plain statement for each set of filters: a filter that may be null would cost an index scan per call
-- once the plan is generic.
create or replace function patchdiff._log_page(
    target_file_id uuid,
    entries bigint,
    before_sequence bigint,
    status text,
    content_hash text,
    client_request_id text
) returns bigint[]
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_before constant bigint := coalesce(_log_page.before_sequence, 9223372036854775807);
    v_sequences bigint[];
begin
    if _log_page.client_request_id is not null then
        v_sequences := patchdiff._log_page_of_request(
            _log_page.target_file_id, v_before, _log_page.status, _log_page.content_hash,
            _log_page.client_request_id
        );
    elsif _log_page.content_hash is not null and _log_page.status is not null then
        v_sequences := array(
            select l.log_sequence from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = _log_page.target_file_id
                and l.pdcp_content_hash = _log_page.content_hash
                and l.status = _log_page.status
                and l.log_sequence < v_before
            order by l.log_sequence desc limit _log_page.entries
        );
    elsif _log_page.content_hash is not null then
        v_sequences := array(
            select l.log_sequence from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = _log_page.target_file_id
                and l.pdcp_content_hash = _log_page.content_hash
                and l.log_sequence < v_before
            order by l.log_sequence desc limit _log_page.entries
        );
    elsif _log_page.status is not null then
        v_sequences := array(
            select l.log_sequence from patchdiff.append_only_pdcp_logs as l
            where
                l.target_file_id = _log_page.target_file_id
                and l.status = _log_page.status
                and l.log_sequence < v_before
            order by l.log_sequence desc limit _log_page.entries
        );
    else
        v_sequences := array(
            select l.log_sequence from patchdiff.append_only_pdcp_logs as l
            where l.target_file_id = _log_page.target_file_id and l.log_sequence < v_before
            order by l.log_sequence desc limit _log_page.entries
        );
    end if;
    return v_sequences;
end
$function$;
comment on function patchdiff._log_page(uuid, bigint, bigint, text, text, text) is
'log_sequence of a target''s newest attempts below before_sequence that pass all given filters, newest first, at
most entries of them; a null filter or bound does not filter.';
revoke all on function patchdiff._log_page(uuid, bigint, bigint, text, text, text) from public;
