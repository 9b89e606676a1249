-- Works on bytes: a code point's byte is counted from the span before, so spans in either direction cost what
-- lies between them, and texts are compared without being decoded. UTF-8 texts are equal when their bytes are.
create or replace function patchdiff._evaluate_spans(
    content text,
    content_code_points bigint,
    spans jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_buffer bytea := convert_to(_evaluate_spans.content, 'UTF8');
    v_length bigint := content_code_points;
    v_item record;
    v_start bigint;
    v_end bigint;
    v_start_byte integer;
    v_end_byte integer;
    v_known_point bigint := 0;
    v_known_byte bigint := 0;
    v_expected text;
    v_before bytea;
    v_after bytea;
    v_replace text;
    v_failure jsonb;
    v_span_starts bigint [] := '{}';
    v_byte_starts bigint [] := '{}';
begin
    for v_item in
        select s.span, s.position
        from jsonb_array_elements(_evaluate_spans.spans) with ordinality as s (span, position)
        order by s.position
    loop
        v_start := v_item.span ->> 'start';
        v_end := v_item.span ->> 'end';
        if v_end > v_length then
            v_failure := patchdiff._request_failure(
                'span_out_of_bounds', null, 'transaction_applicability',
                'The span [' || v_start || ', ' || v_end || ') does not lie in the text of ' || v_length
                || ' code points that this change sees.'
            ) || jsonb_build_object('span_check', 'bounds', 'buffer_length', v_length);
        else
            if octet_length(v_buffer) = v_length then
                v_start_byte := v_start;
                v_end_byte := v_end;
            else
                if v_start < abs(v_start - v_known_point) then
                    v_known_point := 0;
                    v_known_byte := 0;
                end if;
                v_start_byte := patchdiff._byte_offset(v_buffer, v_known_point, v_known_byte, v_start);
                v_end_byte := patchdiff._byte_offset(v_buffer, v_start, v_start_byte, v_end);
            end if;
            v_known_point := v_start;
            v_known_byte := v_start_byte;

            v_expected := patchdiff._canonical_text(v_item.span ->> 'expected_text');
            v_before := convert_to(patchdiff._canonical_text(v_item.span ->> 'expected_before'), 'UTF8');
            v_after := convert_to(patchdiff._canonical_text(v_item.span ->> 'expected_after'), 'UTF8');
            if
                substring(v_buffer from v_start_byte + 1 for v_end_byte - v_start_byte)
                <> convert_to(v_expected, 'UTF8')
            then
                v_failure := patchdiff._span_mismatch(
                    v_buffer, v_length, 'expected_text', v_expected, v_start, v_start_byte, v_start, v_end
                );
            elsif
                -- what reaches past the beginning is cut there, and then too short to be equal
                substring(v_buffer from v_start_byte + 1 - octet_length(v_before) for octet_length(v_before))
                <> v_before
            then
                v_expected := convert_from(v_before, 'UTF8');
                v_failure := patchdiff._span_mismatch(
                    v_buffer, v_length, 'expected_before', v_expected, v_start, v_start_byte,
                    greatest(0, v_start - length(v_expected)), v_start
                );
            elsif substring(v_buffer from v_end_byte + 1 for octet_length(v_after)) <> v_after then
                v_expected := convert_from(v_after, 'UTF8');
                v_failure := patchdiff._span_mismatch(
                    v_buffer, v_length, 'expected_after', v_expected, v_end, v_end_byte,
                    v_end, least(v_length, v_end + length(v_expected))
                );
            end if;
        end if;
        if v_failure is not null then
            return jsonb_build_object('failure', v_failure || jsonb_build_object(
                'failed_change_id', patchdiff._change_id(v_item.span, v_item.position)
            ));
        end if;

        v_span_starts := v_span_starts || v_start;
        v_byte_starts := v_byte_starts || v_start_byte::bigint;
        v_replace := patchdiff._canonical_text(v_item.span ->> 'replace');
        v_buffer := substring(v_buffer from 1 for v_start_byte) || convert_to(v_replace, 'UTF8')
            || substring(v_buffer from v_end_byte + 1);
        v_length := v_length + length(v_replace) - (v_end - v_start);
    end loop;
    return jsonb_build_object(
        'span_starts', v_span_starts,
        'byte_starts', v_byte_starts,
        'after_hash', encode(sha256(v_buffer), 'hex')
    );
end
$function$;
comment on function patchdiff._evaluate_spans(text, bigint, jsonb) is
'Applies well-formed span objects in order to a canonical text of so many code points, each to the buffer
that the earlier ones left. Answers span_starts in code points, byte_starts in UTF-8 bytes and after_hash,
as patchdiff.accept_attempt takes them; or, at the first span that does not apply, failure with reason
span_out_of_bounds or span_expected_text_mismatch. Bounds, expected_text, expected_before and
expected_after are checked in this order.';
revoke all on function patchdiff._evaluate_spans(text, bigint, jsonb) from public;
