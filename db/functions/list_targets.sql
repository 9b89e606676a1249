create or replace function patchdiff.list_targets(
    "limit" bigint default 50,
    after_target_file_id text default null
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_after constant uuid := patchdiff._target_id(list_targets.after_target_file_id);
    v_limit constant bigint := patchdiff._page_limit(list_targets."limit");
    v_targets jsonb;
    v_more boolean;
begin
    if list_targets."limit" < 1 then
        return patchdiff._refusal(
            'invalid_argument', null,
            'limit must be 1 or more, or null for 50: it is ' || list_targets."limit" || '.'
        );
    end if;
    if v_after is null and list_targets.after_target_file_id is not null then
        return patchdiff._target_refusal(list_targets.after_target_file_id);
    end if;
    select
        coalesce(jsonb_agg(p.entry order by p.target_file_id) filter (where p.place <= v_limit), '[]'),
        count(*) > v_limit
    into v_targets, v_more
    from (
        select
            t.target_file_id,
            row_number() over (order by t.target_file_id) as place,
            jsonb_build_object(
                'target_file_id', t.target_file_id,
                'filename', t.filename,
                'version', t.version,
                'current_hash', t.current_hash,
                'content_changed_at', patchdiff._utc_timestamp(t.content_changed_at)
            ) as entry
        from patchdiff.cloud_target_files as t
        where t.target_file_id > coalesce(v_after, '00000000-0000-0000-0000-000000000000')
        order by t.target_file_id
        limit v_limit + 1
    ) as p;
    return jsonb_build_object(
        'targets', v_targets,
        'total', (select count(*) from patchdiff.cloud_target_files as t),
        'has_more', v_more,
        'next_target_file_id', case when v_more then v_targets #> array[(v_limit - 1)::text, 'target_file_id'] end
    );
end
$function$;
comment on function patchdiff.list_targets(bigint, text) is
'A page of the targets in the order of their ids: at most limit of them, 50 for null, never more than 200, with ids
above after_target_file_id; each with filename, version, current_hash and content_changed_at. total counts all targets;
next_target_file_id is the next page''s after_target_file_id, null on the last. Refuses with invalid_argument a limit
below 1 and a malformed id (invalid_target_id); an id without a target is a place like any other. Contract: audit.';
revoke all on function patchdiff.list_targets(bigint, text) from public;
grant execute on function patchdiff.list_targets(bigint, text) to patchdiff_editor, patchdiff_reader;
