create or replace function patchdiff._record_changes(
    protocol_version text,
    pdcp_content text
) returns table (
    change_index bigint,
    change_id text,
    operation text,
    place bigint,
    place_end bigint,
    matched text,
    replacement text,
    before text,
    after text,
    risk text,
    observation_id uuid
)
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_record jsonb := patchdiff._record(protocol_version, pdcp_content);
begin
    if protocol_version = 'patchdiff-tx/3' then
        return query
        select
            1::bigint, 'chg_001', 'replace_all', 0::bigint, null::bigint, null::text,
            patchdiff._canonical_text(v_record ->> 'replacement'), null::text, null::text, null::text,
            null::uuid;
        return;
    end if;
    return query
    select
        c.position,
        patchdiff._change_id(c.change, c.position),
        case when c.change ->> 'op' = 'span' then 'span' end,
        case when c.change ->> 'op' = 'span' then (c.change ->> 'start')::bigint end,
        case when c.change ->> 'op' = 'span' then (c.change ->> 'end')::bigint end,
        patchdiff._canonical_text(
            c.change ->> case when c.change ->> 'op' = 'span' then 'expected_text' else 'match' end
        ),
        patchdiff._canonical_text(c.change ->> 'replace'),
        patchdiff._canonical_text(c.change ->> 'expected_before'),
        patchdiff._canonical_text(c.change ->> 'expected_after'),
        c.change ->> 'risk',
        c.observation_id
    from (
        select e.change, e.position, null::uuid
        from jsonb_array_elements(coalesce(v_record -> 'edits', v_record -> 'operations'))
            with ordinality as e (change, position)
        union all
        select b.change, b.change_index, b.observation_id::uuid
        from patchdiff._batch_operations(v_record) as b
    ) as c (change, position, observation_id)
    order by c.position;
end
$function$;
comment on function patchdiff._record_changes(text, text) is
'The changes of a stored record in order: one-based index, name, operation (null for a match), place and
place_end (the code points between which the record puts it, null for a match), the canonical text that
each matches and puts in its place, and what must stand directly before and after; matched is null for a
whole replacement. The changes of a batch have the receipt of their group, and count places from its scope''s
start. Raises PD020 for a text that is no record of the protocol.';
revoke all on function patchdiff._record_changes(text, text) from public;
