create or replace function patchdiff._change_facts(
    change_id text,
    change_index bigint,
    operation text,
    span_start bigint,
    matched text,
    replacement text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_build_object(
        'change_id', change_id,
        'change_index', change_index,
        'span_start', span_start,
        'span_end', span_start + length(matched),
        'matched_chars', length(matched),
        'replacement_chars', length(replacement),
        'matched_sha256', patchdiff._sha256_hex(matched),
        'replacement_sha256', patchdiff._sha256_hex(replacement)
    ) || case
        when operation is null then '{}'
        else jsonb_build_object('operation', operation)
    end;
end
$function$;
comment on function patchdiff._change_facts(text, bigint, text, bigint, text, text) is
'The derived fact of one change: its span in code points of the buffer that it saw, and length and
SHA-256 of the matched and of the replacing text; with its operation where that is no match.';
revoke all on function patchdiff._change_facts(text, bigint, text, bigint, text, text) from public;
