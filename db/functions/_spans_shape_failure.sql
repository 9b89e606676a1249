create or replace function patchdiff._spans_shape_failure(
    intent text,
    spans jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_span record;
    v_failure jsonb;
begin
    if _spans_shape_failure.intent is null then
        return patchdiff._request_failure(
            'protocol_invalid', null, 'protocol_validation', 'intent must be a string.'
        );
    end if;
    if
        jsonb_typeof(_spans_shape_failure.spans) is distinct from 'array'
        or _spans_shape_failure.spans = '[]'
    then
        return patchdiff._request_failure(
            'protocol_invalid', null, 'protocol_validation', 'spans must be a non-empty array of span objects.'
        );
    end if;
    for v_span in
        select s.span, s.position
        from jsonb_array_elements(_spans_shape_failure.spans) with ordinality as s (span, position)
        order by s.position
    loop
        v_failure := patchdiff._span_shape_failure(v_span.span, v_span.position);
        if v_failure is not null then
            return v_failure;
        end if;
    end loop;
    select
        patchdiff._request_failure(
            'protocol_invalid', null, 'protocol_validation',
            'spans[' || n.position - 1 || '] has the change_id of an earlier span: change ids must differ,'
            || ' the default ones by position (chg_001, chg_002) included.'
        ) || jsonb_build_object('failed_change_id', n.change_id)
    into v_failure
    from (
        select c.position, c.change_id, row_number() over (partition by c.change_id order by c.position) as number
        from (
            select s.position, patchdiff._change_id(s.span, s.position) as change_id
            from jsonb_array_elements(_spans_shape_failure.spans) with ordinality as s (span, position)
        ) as c
    ) as n
    where n.number > 1
    order by n.position
    limit 1;
    return v_failure;
end
$function$;
comment on function patchdiff._spans_shape_failure(text, jsonb) is
'Judges the shape of a proposal of spans: null when it holds, otherwise the failure object of the first
fault, with failed_change_id where a span is at fault. Intent, list, each span in order, and change ids,
which must differ, are judged in this order.';
revoke all on function patchdiff._spans_shape_failure(text, jsonb) from public;
