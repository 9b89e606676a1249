create or replace function patchdiff._span_mismatch(
    content bytea,
    content_code_points bigint,
    span_check text,
    expected text,
    known_point bigint,
    known_byte bigint,
    actual_start bigint,
    actual_end bigint
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_start bigint := actual_start;
    v_end bigint := actual_end;
    v_first integer;
begin
    if span_check = 'expected_before' then
        v_start := greatest(v_start, v_end - 64);
    else
        v_end := least(v_end, v_start + 64);
    end if;
    v_first := patchdiff._byte_offset(content, known_point, known_byte, v_start);
    return patchdiff._request_failure(
        'span_expected_text_mismatch', null, 'transaction_applicability',
        'The text of the span''s ' || span_check || ' is not what stands there.'
    ) || jsonb_build_object(
        'span_check', span_check,
        'buffer_length', content_code_points,
        'actual_text', convert_from(
            substring(
                content from v_first + 1
                for (patchdiff._byte_offset(content, known_point, known_byte, v_end) - v_first)::integer
            ),
            'UTF8'
        ),
        'actual_text_truncated', actual_end - actual_start > 64,
        'expected_chars', length(expected),
        'actual_chars', actual_end - actual_start
    );
end
$function$;
comment on function patchdiff._span_mismatch(bytea, bigint, text, text, bigint, bigint, bigint, bigint) is
'The failure object of a span whose expected text, or the text expected before or after it, is not what
stands from code point actual_start to actual_end of the buffer. Shows at most 64 code points of that:
its end for expected_before, otherwise its beginning. known_point and known_byte are one place nearby.';
revoke all on function patchdiff._span_mismatch(bytea, bigint, text, text, bigint, bigint, bigint, bigint)
from public;
