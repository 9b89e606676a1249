create or replace function patchdiff._span_record(
    intent text,
    spans jsonb
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_fields constant text [] := array[
        'op', 'start', 'end', 'expected_text', 'replace', 'change_id', 'rationale', 'risk',
        'expected_before', 'expected_after'
    ];
    v_operations text := coalesce(patchdiff._compact_json(_span_record.spans), 'null');
begin
    if jsonb_typeof(_span_record.spans) = 'array' then
        select '[' || coalesce(string_agg(o.operation, ',' order by o.position), '') || ']'
        into v_operations
        from (
            select
                s.position,
                case jsonb_typeof(s.span)
                    when 'object' then (
                        select '{' || string_agg(
                            to_json(f.name)::text || ':' || patchdiff._compact_json(f.value), ','
                            order by array_position(v_fields, f.name), f.name collate "C"
                        ) || '}'
                        from jsonb_each('{"op": "span"}' || s.span) as f (name, value)
                    )
                    else patchdiff._compact_json(s.span)
                end as operation
            from jsonb_array_elements(_span_record.spans) with ordinality as s (span, position)
        ) as o;
    end if;
    return '{"protocol":"patchdiff-tx/2","intent":' || coalesce(to_json(_span_record.intent)::text, 'null')
        || ',"operations":' || v_operations || '}';
end
$function$;
comment on function patchdiff._span_record(text, jsonb) is
'The patchdiff-tx/2 record of span objects as it is stored: compact JSON text with protocol, intent and
operations. Each span has its op first, span unless it names one, then the fields that it was given in
the contract''s order, then fields that no span has. Texts stay as submitted. Spans of any shape have a
record, so that a malformed proposal can be audited.';
revoke all on function patchdiff._span_record(text, jsonb) from public;
