create or replace function patchdiff._record_intents(
    pdcp_content text,
    out transaction_intent text,
    out rationales text[]
) returns record
language plpgsql
stable
strict
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_record jsonb;
begin
    if not pg_input_is_valid(pdcp_content, 'jsonb') then
        return;
    end if;
    v_record := pdcp_content::jsonb;
    if
        jsonb_typeof(v_record) <> 'object'
        or v_record ->> 'protocol' = 'patchdiff-invalid-input/1'
    then
        return;
    end if;
    if jsonb_typeof(v_record -> 'intent') = 'string' then
        transaction_intent := v_record ->> 'intent';
    end if;
    select array_agg(
        case when jsonb_typeof(c.change -> 'rationale') = 'string' then c.change ->> 'rationale' end
        order by c.position
    )
    into rationales
    from (
        select e.change, e.position
        from (select coalesce(v_record -> 'edits', v_record -> 'operations') as changes) as r
        cross join lateral jsonb_array_elements(
            case jsonb_typeof(r.changes) when 'array' then r.changes else '[]' end
        ) with ordinality as e (change, position)
        union all
        select b.change, b.change_index
        from patchdiff._batch_operations(v_record) as b
        where not v_record ?| array['edits', 'operations']
    ) as c;
exception
    -- a text nested deeper than the server's stack allows is no record of ours, and no reason to fail
    when statement_too_complex then
        transaction_intent := null;
        rationales := null;
end
$function$;
comment on function patchdiff._record_intents(text) is
'The one place that reads intents out of a stored record: the transaction''s intent whole, and the
rationale of each change in order. Both null for evidence of invalid input and for a text that is no
JSON or too deep to read.';
revoke all on function patchdiff._record_intents(text) from public;
