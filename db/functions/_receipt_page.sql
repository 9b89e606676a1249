create or replace function patchdiff._receipt_page(
    receipt patchdiff.target_scope_observations,
    content text,
    ascii boolean,
    "offset" bigint,
    max_chars bigint,
    include_line_starts boolean
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_length constant bigint := patchdiff._page_length(max_chars);
    v_start constant bigint := receipt.scope_start + "offset";
    v_end constant bigint := least(v_start + v_length, receipt.scope_end);
    v_page constant text := patchdiff._slice(content, ascii, v_start, v_end - v_start);
    v_before constant text := patchdiff._slice(content, ascii, 0, v_start);
    v_start_line constant bigint := cardinality(patchdiff._lines(v_before));
    v_more constant boolean := v_end < receipt.scope_end;
begin
    return jsonb_build_object(
        'observation_id', receipt.observation_id,
        'observation_bundle_id', receipt.observation_bundle_id,
        'ordinal', receipt.ordinal,
        'symbol', jsonb_build_object('name', receipt.symbol_name, 'kind', receipt.symbol_kind),
        'scope_start', receipt.scope_start,
        'scope_end', receipt.scope_end,
        'scope_length', receipt.scope_end - receipt.scope_start,
        'observed_scope_hash', receipt.observed_scope_hash,
        'offset', "offset",
        'max_chars', v_length,
        'start', v_start,
        'end', v_end,
        'start_line', v_start_line,
        'end_line', v_start_line - 1 + cardinality(patchdiff._lines(
            case when right(v_page, 1) = E'\n' then left(v_page, -1) else v_page end
        )),
        'text', v_page,
        'truncated', v_more,
        'next_offset', case when v_more then v_end - receipt.scope_start end,
        'next_start', case when v_more then v_end end
    ) || case
        when include_line_starts
            then jsonb_build_object('line_starts', patchdiff._line_starts(v_before, v_page, 1, v_start, null))
        else '{}'
    end;
end
$function$;
comment on function patchdiff._receipt_page(
    patchdiff.target_scope_observations, text, boolean, bigint, bigint, boolean
) is
'A receipt with a page of its scope, offset code points into it, as observing answers it. Offsets but offset and
next_offset are absolute code points; start_line and end_line are the one-based lines of the page''s first and last
code point. include_line_starts adds the lines that begin in the page. content is the text that was observed; ascii
tells that it is ASCII throughout.';
revoke all on function patchdiff._receipt_page(
    patchdiff.target_scope_observations, text, boolean, bigint, bigint, boolean
) from public;
