create or replace function patchdiff._log_page_of_request(
    target_file_id uuid,
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
    v_log record;
begin
    select l.log_sequence, l.status, l.pdcp_content_hash into v_log
    from patchdiff.append_only_pdcp_logs as l
    where
        l.target_file_id = _log_page_of_request.target_file_id
        and l.client_request_id = _log_page_of_request.client_request_id;
    if
        v_log.log_sequence < _log_page_of_request.before_sequence
        and v_log.status = coalesce(_log_page_of_request.status, v_log.status)
        and v_log.pdcp_content_hash = coalesce(_log_page_of_request.content_hash, v_log.pdcp_content_hash)
    then
        return array[v_log.log_sequence];
    end if;
    return '{}';
end
$function$;
comment on function patchdiff._log_page_of_request(uuid, bigint, text, text, text) is
'As _log_page, for a request key: the one attempt of the target that stores the key, when it passes the other
filters. A null status or content_hash does not filter.';
revoke all on function patchdiff._log_page_of_request(uuid, bigint, text, text, text) from public;
