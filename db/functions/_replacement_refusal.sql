create or replace function patchdiff._replacement_refusal(
    replacement text
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_code_point_limit constant bigint := 1000000;
    v_utf8_byte_limit constant bigint := 1048576;
    v_canonical constant text := patchdiff._canonical_text(_replacement_refusal.replacement);
    v_code_points constant bigint := length(v_canonical);
    v_utf8_bytes constant bigint := octet_length(v_canonical);
    v_would_fit constant boolean := v_code_points <= v_code_point_limit and v_utf8_bytes <= v_utf8_byte_limit;
    v_limit record;
begin
    select l.name, l.actual, l.allowed
    into v_limit
    from (
        values
        (1, 'raw_code_points', length(_replacement_refusal.replacement), v_code_point_limit),
        (2, 'raw_utf8_bytes', octet_length(_replacement_refusal.replacement), v_utf8_byte_limit),
        (3, 'canonical_code_points', v_code_points, v_code_point_limit),
        (4, 'canonical_utf8_bytes', v_utf8_bytes, v_utf8_byte_limit)
    ) as l (position, name, actual, allowed)
    where l.actual > l.allowed
    order by l.position
    limit 1;
    if v_limit.name is null then
        return null;
    end if;
    return patchdiff._refusal(
        'invalid_argument', 'replacement_too_large',
        'The replacement is too large: ' || v_limit.name || ' is ' || v_limit.actual || ', the limit '
        || v_limit.allowed || '; ' || case
            when v_would_fit then 'send the text with LF line endings, which fits.'
            else 'where only parts of the text change, submit those as spans.'
        end
    ) || jsonb_build_object(
        'pdcp_log_id', null,
        'diagnostic', jsonb_build_object(
            'code', 'replacement_too_large',
            'limit_exceeded', v_limit.name,
            'actual', v_limit.actual,
            'limit', v_limit.allowed,
            'canonical_code_points', v_code_points,
            'canonical_utf8_bytes', v_utf8_bytes,
            'canonical_would_fit', v_would_fit
        )
    );
end
$function$;
comment on function patchdiff._replacement_refusal(text) is
'Payload of the refusal of a whole replacement that is too large to be admitted; null when it may be, or is
null. The text as submitted and its canonical form are held to 1,000,000 code points and 1,048,576 UTF-8
bytes, inclusive; the first limit that fails, in that order, is named.
Contract: patchdiff_submit_replacement.';
revoke all on function patchdiff._replacement_refusal(text) from public;
