-- Its statements are few and always find their rows through an index: planning them anew in every call costs as
-- much as running them, and a plan made while the tables were small must not scan them once they are large.
create or replace function patchdiff.get_pdcp_log(
    target_file_id text,
    "limit" bigint default 50,
    before_sequence bigint default null,
    status text default null,
    content_hash text default null,
    client_request_id text default null,
    include_content boolean default false
) returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $function$
declare
    v_id constant uuid := patchdiff._target_id(get_pdcp_log.target_file_id);
    v_limit constant bigint := patchdiff._page_limit(get_pdcp_log."limit");
    v_refusal jsonb;
    v_sequences bigint[];
begin
    if v_id is null then
        return patchdiff._history_refusal(patchdiff._target_refusal(get_pdcp_log.target_file_id));
    end if;
    v_refusal := patchdiff._history_arguments_refusal(
        get_pdcp_log."limit", get_pdcp_log.before_sequence, 'include_content', get_pdcp_log.include_content
    );
    if v_refusal is null and get_pdcp_log.status not in ('accepted', 'rejected') then
        v_refusal := patchdiff._history_refusal(patchdiff._refusal(
            'invalid_argument', null, 'status must be accepted, rejected or null.'
        ));
    end if;
    if v_refusal is not null then
        return v_refusal;
    end if;
    if not exists (select from patchdiff.cloud_target_files as t where t.target_file_id = v_id) then
        return patchdiff._history_refusal(patchdiff._target_refusal(get_pdcp_log.target_file_id));
    end if;

    v_sequences := patchdiff._log_page(
        v_id, v_limit + 1, get_pdcp_log.before_sequence, get_pdcp_log.status, get_pdcp_log.content_hash,
        get_pdcp_log.client_request_id
    );
    return patchdiff._log_answer(
        v_id, v_sequences[:v_limit], cardinality(v_sequences) > v_limit, get_pdcp_log.include_content
    );
end
$function$;
comment on function patchdiff.get_pdcp_log(text, bigint, bigint, text, text, text, boolean) is
'A page of a target''s attempts, accepted and rejected, newest first: at most limit entries, 50 for null, never
more than 200, with a log_sequence below before_sequence, that pass every filter given. next_sequence is the
next page''s before_sequence, null on the last. include_content adds the stored records, at most 1,048,576 UTF-8
bytes a page; the first comes whole. Refuses with invalid_argument: a malformed id (invalid_target_id), a limit
or before_sequence below 1, another status, a null include_content. not_found for an unknown target. Refusals
have entries [], has_more false and next_sequence null. Contract: section 4.';
revoke all on function patchdiff.get_pdcp_log(text, bigint, bigint, text, text, text, boolean) from public;
grant execute on function patchdiff.get_pdcp_log(text, bigint, bigint, text, text, text, boolean)
to patchdiff_editor, patchdiff_reader;
