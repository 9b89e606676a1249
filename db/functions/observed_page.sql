create or replace function patchdiff.observed_page(
    target_file_id text,
    observation_id text,
    engine text,
    "offset" bigint default 0,
    max_chars bigint default null,
    include_line_starts boolean default false
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target record;
    v_receipt patchdiff.target_scope_observations;
    v_failure jsonb;
begin
    select
        t.target_file_id, t.current_content, t.content_code_points = t.content_utf8_bytes as ascii
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(observed_page.target_file_id);
    if not found then
        return patchdiff._target_refusal(observed_page.target_file_id);
    end if;
    v_failure := patchdiff._receipt_failure(
        v_target.target_file_id, to_jsonb(observed_page.observation_id), observed_page.engine, true
    );
    if v_failure is not null then
        return jsonb_build_object(
            'status',
            case v_failure ->> 'code' when 'INVALID_OBSERVATION_ID' then 'invalid_argument' else 'rejected' end,
            'observation_id', null
        ) || v_failure;
    end if;
    select o.* into v_receipt
    from patchdiff.target_scope_observations as o
    where
        o.target_file_id = v_target.target_file_id
        and o.observation_id = patchdiff._target_id(observed_page.observation_id);
    if ("offset" between 0 and v_receipt.scope_end - v_receipt.scope_start) is not true then
        return patchdiff._refusal(
            'invalid_argument', null,
            'offset must be from 0 to the scope''s ' || v_receipt.scope_end - v_receipt.scope_start || ' code points.'
        );
    end if;
    if max_chars < 1 then
        return patchdiff._refusal(
            'invalid_argument', null, 'max_chars must be 1 or more, or null for 4000: it is ' || max_chars || '.'
        );
    end if;
    return jsonb_build_object(
        'status', 'observed',
        'mode', 'scope_page',
        'target_file_id', v_target.target_file_id,
        'target_version', v_receipt.target_version,
        'target_current_hash', v_receipt.target_current_hash,
        'engine', v_receipt.engine,
        'language', v_receipt.language
    ) || patchdiff._receipt_page(
        v_receipt, v_target.current_content, v_target.ascii, "offset", max_chars, include_line_starts
    );
end
$function$;
comment on function patchdiff.observed_page(text, text, text, bigint, bigint, boolean) is
'A page of a scope by its receipt, which must be of the current state of the target and of the given engine: from
offset code points into the scope on, at most max_chars code points, 4,000 for null and never more than 8,000. An
offset equal to the scope''s length is an empty last page. Answers status observed with mode scope_page; rejected
with failure_reason context_invalid and the receipt''s code; invalid_argument for a malformed id, an offset
outside the scope or a max_chars below 1. Contract: patchdiff_observe_scope.';
revoke all on function patchdiff.observed_page(text, text, text, bigint, bigint, boolean) from public;
grant execute on function patchdiff.observed_page(text, text, text, bigint, bigint, boolean) to patchdiff_editor;
