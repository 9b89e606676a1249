create or replace function patchdiff.issue_observations(
    target_file_id text,
    base_version bigint,
    base_hash text,
    engine text,
    language text,
    scopes jsonb,
    bundle boolean default false,
    "offset" bigint default 0,
    max_chars bigint default null,
    include_line_starts boolean default false
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_target record;
    v_bundle_id uuid;
    v_now timestamptz;
    v_scope record;
    v_receipt patchdiff.target_scope_observations;
    v_receipts jsonb := '[]';
begin
    select
        t.target_file_id, t.version, t.current_hash, t.current_content, t.active_editing_cycle_id, t.content_code_points,
        t.content_code_points = t.content_utf8_bytes as ascii
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(issue_observations.target_file_id)
    for update;
    if not found then
        return '{"outcome": "no_target"}';
    end if;
    if (v_target.version = base_version and v_target.current_hash = base_hash) is not true then
        return '{"outcome": "stale_base"}';
    end if;
    if patchdiff._sha256_hex(v_target.current_content) <> v_target.current_hash then
        return '{"outcome": "diverged"}';
    end if;
    perform patchdiff._check_scopes(engine, language, scopes, bundle, v_target.content_code_points);
    if max_chars < 1 or ("offset" >= 0 and "offset" <= all (
        select (s.scope ->> 'end')::bigint - (s.scope ->> 'start')::bigint
        from jsonb_array_elements(scopes) as s (scope)
    )) is not true then
        raise exception 'the page does not begin in the scope, or has no room'
            using errcode = 'PD040',
            hint = 'Give an offset from 0 to the code points of the scope, and max_chars of 1 or more, or null for 4000.';
    end if;

    v_now := clock_timestamp();
    if bundle then
        v_bundle_id := gen_random_uuid();
        insert into patchdiff.target_scope_bundles (
            target_file_id, observation_bundle_id, editing_cycle_id, target_version, target_current_hash,
            engine, language, created_at
        ) values (
            v_target.target_file_id, v_bundle_id, v_target.active_editing_cycle_id, v_target.version,
            v_target.current_hash, issue_observations.engine, issue_observations.language, v_now
        );
    end if;
    for v_scope in
        select a.scope, a.position
        from jsonb_array_elements(scopes) with ordinality as a (scope, position)
        order by a.position
    loop
        insert into patchdiff.target_scope_observations (
            target_file_id, observation_id, observation_bundle_id, ordinal, editing_cycle_id, target_version,
            target_current_hash, engine, language, symbol_name, symbol_kind, scope_start, scope_end,
            observed_scope_hash, created_at
        )
        select
            v_target.target_file_id, gen_random_uuid(), v_bundle_id, case when bundle then v_scope.position end,
            v_target.active_editing_cycle_id, v_target.version, v_target.current_hash,
            issue_observations.engine, issue_observations.language,
            v_scope.scope ->> 'name', v_scope.scope ->> 'kind', s.scope_start, s.scope_end,
            patchdiff._sha256_hex(patchdiff._slice(
                v_target.current_content, v_target.ascii, s.scope_start, s.scope_end - s.scope_start
            )),
            v_now
        from (
            select (v_scope.scope ->> 'start')::bigint as scope_start, (v_scope.scope ->> 'end')::bigint as scope_end
        ) as s
        returning * into v_receipt;
        v_receipts := v_receipts || patchdiff._receipt_page(
            v_receipt, v_target.current_content, v_target.ascii, "offset", max_chars, include_line_starts
        );
    end loop;
    return jsonb_build_object(
        'outcome', 'issued', 'observation_bundle_id', v_bundle_id, 'observations', v_receipts
    );
end
$function$;
comment on function patchdiff.issue_observations(
    text, bigint, text, text, text, jsonb, boolean, bigint, bigint, boolean
) is
'Issues receipts of scopes that the structural engine found on a state of a target, all or none. base_version and
base_hash name that state; the function locks the target and writes nothing when it has been left. scopes is an
array of {name, kind, start, end} in code points, end exclusive: one, or up to 32 disjoint and non-empty ones of
65,536 code points in all for a bundle. Answers an outcome: issued, with observation_bundle_id and observations, the
receipts in order, each with a page of its scope from offset code points into it on (at most max_chars code points,
4,000 for null and never more than 8,000; with include_line_starts the lines that begin there); or, having written nothing, stale_base,
diverged (the stored text does not have its hash) or no_target. Raises PD040 for scopes that are none, and for a page
that does not begin in each.
Contract: patchdiff_observe_scope.';
revoke all on function patchdiff.issue_observations(
    text, bigint, text, text, text, jsonb, boolean, bigint, bigint, boolean
) from public;
grant execute on function patchdiff.issue_observations(
    text, bigint, text, text, text, jsonb, boolean, bigint, bigint, boolean
) to patchdiff_editor;
