create or replace function patchdiff._is_change(
    protocol_version text,
    change jsonb
) returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_span boolean := protocol_version = 'patchdiff-tx/2' and change ->> 'op' = 'span';
    v_texts text[] := case
        when v_span then array['expected_text', 'replace'] else array['match', 'replace']
    end;
    v_beside text[] := case
        when v_span then array['expected_before', 'expected_after'] else array['anchor_before', 'anchor_after']
    end;
    v_others text[] := array['change_id', 'rationale', 'risk'] || case
        when v_span then array['op', 'start', 'end']
        when protocol_version = 'patchdiff-tx/2' then array['op', 'occurrence_index']
        else array['occurrence_index']
    end;
begin
    if jsonb_typeof(change) is distinct from 'object' then
        return false;
    end if;
    if protocol_version = 'patchdiff-tx/2' and coalesce(change ->> 'op', '') not in ('match', 'span') then
        return false;
    end if;
    return change - (v_texts || v_beside || v_others) = '{}'
        and not exists (select from unnest(v_texts) as t (name) where jsonb_typeof(change -> t.name) is distinct from 'string')
        and (v_span or change ->> 'match' <> '')
        and not exists (
            select from unnest(v_beside) as t (name)
            where
                jsonb_typeof(change -> t.name) not in ('string', 'null')
                or v_span and change ->> t.name = ''
        )
        and coalesce(jsonb_typeof(change -> 'rationale'), 'null') in ('string', 'null')
        and coalesce(change -> 'risk', 'null') in ('"low"', '"medium"', '"high"', 'null')
        and coalesce(jsonb_typeof(change -> 'change_id'), 'null') in ('string', 'null')
        and coalesce(change ->> 'change_id', 'x') collate "C" ~ '^[A-Za-z0-9_.-]{1,64}$'
        and coalesce(change -> 'occurrence_index', 'null')::text ~ '^(null|[1-9][0-9]*)$'
        and (
            not v_span
            or coalesce(change -> 'start', 'null')::text ~ '^(0|[1-9][0-9]{0,17})$'
            and coalesce(change -> 'end', 'null')::text ~ '^(0|[1-9][0-9]{0,17})$'
        );
end
$function$;
comment on function patchdiff._is_change(text, jsonb) is
'Whether one member of a record''s edits or operations has the shape that its protocol gives it (contract,
section 3): what accept_attempt insists on before it applies a record.';
revoke all on function patchdiff._is_change(text, jsonb) from public;
