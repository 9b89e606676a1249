create or replace function patchdiff._apply_record(
    protocol_version text,
    pdcp_content text,
    current_content text,
    ascii boolean,
    span_starts bigint[],
    byte_starts bigint[],
    receipts patchdiff.target_scope_observations[],
    out result bytea,
    out facts jsonb,
    out risks text[],
    out misfit text
) returns record
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_changes record;
    v_framed record;
    v_applied record;
begin
    select
        array_agg(c.change_id order by c.change_index) as ids,
        array_agg(c.operation order by c.change_index) as operations,
        array_agg(c.place + coalesce(r.scope_start, 0) order by c.change_index) as places,
        array_agg(c.place_end + coalesce(r.scope_start, 0) order by c.change_index) as ends,
        array_agg(coalesce(c.before, '') order by c.change_index) as befores,
        array_agg(coalesce(c.after, '') order by c.change_index) as afters,
        array_agg(coalesce(c.matched, current_content) order by c.change_index) as matched,
        array_agg(c.replacement order by c.change_index) as replacements,
        array_agg(c.risk order by c.change_index) as risks,
        array_agg(c.observation_id order by c.change_index) as observation_ids,
        -- the scopes of a batch do not overlap: from the last to the first, none moves another
        array_agg(coalesce(-r.scope_start, 0) order by c.change_index) as turns
    into v_changes
    from patchdiff._record_changes(_apply_record.protocol_version, _apply_record.pdcp_content) as c
    left join unnest(receipts) as r on c.observation_id = r.observation_id;
    perform patchdiff._check_places(
        span_starts, coalesce(byte_starts, span_starts), cardinality(v_changes.matched)
    );
    misfit := patchdiff._scope_misfit(
        receipts, v_changes.observation_ids, span_starts,
        v_changes.befores, v_changes.matched, v_changes.afters, v_changes.replacements
    );
    if misfit is not null then
        return;
    end if;
    if _apply_record.protocol_version = 'patchdiff-observed-batch/1' and exists (
        select from unnest(receipts) as r
        where
            r.observation_bundle_id
            is distinct from (_apply_record.pdcp_content::jsonb ->> 'observation_bundle_id')::uuid
    ) then
        misfit := 'a receipt is not of the bundle that the record names';
        return;
    end if;
    if exists (
        select from unnest(v_changes.places, v_changes.ends, v_changes.matched, span_starts)
            as p (place, place_end, matched, start)
        where p.place <> p.start or p.place_end <> p.start + length(p.matched)
    ) then
        misfit := 'a span was not found where the record puts it';
        return;
    end if;
    -- what must stand beside a span is checked as if it were matched, and put back as it was
    select
        array_agg(c.before || c.matched || c.after order by c.turn, c.i) as matched,
        array_agg(c.before || c.replacement || c.after order by c.turn, c.i) as replacements,
        array_agg(c.start - length(c.before) order by c.turn, c.i) as span_starts,
        array_agg(c.byte_start - octet_length(c.before) order by c.turn, c.i) as byte_starts
    into v_framed
    from unnest(
        v_changes.befores, v_changes.matched, v_changes.afters, v_changes.replacements, span_starts, byte_starts,
        v_changes.turns
    ) with ordinality as c (before, matched, after, replacement, start, byte_start, turn, i);
    v_applied := patchdiff._apply_changes(
        current_content, ascii,
        v_framed.matched, v_framed.replacements, v_framed.span_starts, v_framed.byte_starts
    );
    result := v_applied.result;
    misfit := v_applied.misfit;
    risks := v_changes.risks;
    facts := (
        select
            jsonb_agg(
                patchdiff._change_facts(
                    v_changes.ids[i], i, v_changes.operations[i], span_starts[i],
                    v_changes.matched[i], v_changes.replacements[i]
                ) order by i
            )
        from generate_series(1, cardinality(span_starts)) as i
    );
end
$function$;
comment on function patchdiff._apply_record(
    text, text, text, boolean, bigint[], bigint[], patchdiff.target_scope_observations[]
) is
'Applies a stored record to a text at the places where its changes were found: the resulting UTF-8 bytes,
and the facts and risks of the changes in order. receipts are those of an observed record, whose changes must lie
inside their scopes, for a batch all of the bundle that it names; otherwise null. misfit says what of the record does not fit the text, the places or the scopes,
or is null. ascii tells that the text is ASCII throughout; null byte_starts are counted. Raises PD020 for a text that
is no record, PD021 for places that are none.';
revoke all on function patchdiff._apply_record(
    text, text, text, boolean, bigint[], bigint[], patchdiff.target_scope_observations[]
) from public;
