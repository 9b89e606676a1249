create or replace function patchdiff._span_shape_failure(
    span jsonb,
    change_index bigint
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_offset constant text := 'an integer from 0 to 9223372036854775807';
    v_where text := 'spans[' || change_index - 1 || ']';
    v_detail text;
    v_field text;
begin
    if jsonb_typeof(span) is distinct from 'object' then
        v_detail := v_where || ' must be an object.';
    elsif
        jsonb_typeof(span -> 'change_id') <> 'null'
        and patchdiff._change_id(span, change_index) is distinct from span ->> 'change_id'
    then
        v_detail := v_where
            || '.change_id must be null or 1 to 64 characters of A-Z, a-z, 0-9, ''_'', ''.'' and ''-''.';
    elsif coalesce(span -> 'op', '"span"') <> '"span"' then
        v_detail := v_where || '.op must be span, or be left out: matches are submitted through the adapter.';
    else
        v_field := (
            select f.name
            from jsonb_object_keys(span) as f (name)
            where f.name not in (
                'op', 'start', 'end', 'expected_text', 'replace', 'change_id', 'rationale', 'risk',
                'expected_before', 'expected_after'
            )
            order by f.name collate "C"
            limit 1
        );
        if v_field is not null then
            v_detail := v_where || ' has a field that it may not have: ' || left(to_json(v_field)::text, 80) || '.';
        end if;
    end if;
    if v_detail is null then
        select v_where || '.' || r.field || ' must be ' || r.expected || '.'
        into v_detail
        from (
            values
            (1, 'start', v_offset, patchdiff._is_offset(span -> 'start')),
            (2, 'end', v_offset, patchdiff._is_offset(span -> 'end')),
            (
                3, 'expected_text', 'a string (empty for an insertion)',
                jsonb_typeof(span -> 'expected_text') = 'string'
            ),
            (4, 'replace', 'a string (empty to delete)', jsonb_typeof(span -> 'replace') = 'string'),
            (
                5, 'rationale', 'a string or null',
                coalesce(jsonb_typeof(span -> 'rationale') in ('string', 'null'), true)
            ),
            (
                6, 'risk', 'low, medium, high or null',
                coalesce(span -> 'risk' in ('null', '"low"', '"medium"', '"high"'), true)
            ),
            (
                7, 'expected_before', 'a non-empty string or null',
                coalesce(
                    jsonb_typeof(span -> 'expected_before') in ('string', 'null')
                    and span -> 'expected_before' <> '""',
                    true
                )
            ),
            (
                8, 'expected_after', 'a non-empty string or null',
                coalesce(
                    jsonb_typeof(span -> 'expected_after') in ('string', 'null')
                    and span -> 'expected_after' <> '""',
                    true
                )
            )
        ) as r (position, field, expected, holds)
        where r.holds is not true
        order by r.position
        limit 1;
    end if;
    if v_detail is null and (span ->> 'end')::bigint < (span ->> 'start')::bigint then
        v_detail := v_where || '.end must not be below start.';
    end if;
    if v_detail is null then
        return null;
    end if;
    return patchdiff._request_failure('protocol_invalid', null, 'protocol_validation', v_detail)
        || jsonb_build_object('failed_change_id', patchdiff._change_id(span, change_index));
end
$function$;
comment on function patchdiff._span_shape_failure(jsonb, bigint) is
'Judges the shape of one span object, which has the given one-based index: null when it holds, otherwise
the failure object with failed_change_id.';
revoke all on function patchdiff._span_shape_failure(jsonb, bigint) from public;
