create or replace function patchdiff.read_target(
    target_file_id text,
    start bigint default 0,
    length bigint default null
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(read_target.target_file_id);
    v_detail text;
    v_target record;
    v_end bigint;
begin
    if v_id is null then
        return patchdiff._target_refusal(read_target.target_file_id);
    end if;
    v_detail := case
        when read_target.start is null or read_target.start < 0
            then 'start must be a code-point offset of 0 or more.'
        when read_target.length < 1
            then 'length must be 1 or more, or null for 4000: it is ' || read_target.length || '.'
    end;
    if v_detail is not null then
        return patchdiff._refusal('invalid_argument', null, v_detail);
    end if;

    select
        t.version,
        t.current_hash,
        t.content_code_points as total,
        patchdiff._slice(
            t.current_content, t.content_code_points = t.content_utf8_bytes,
            read_target.start, patchdiff._page_length(read_target.length)
        ) as page
    into v_target
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._target_refusal(read_target.target_file_id);
    end if;
    if read_target.start > v_target.total then
        return patchdiff._refusal(
            'invalid_argument',
            null,
            'start must be at most the text''s ' || v_target.total || ' code points: it is '
            || read_target.start || '.'
        );
    end if;
    v_end := least(read_target.start + patchdiff._page_length(read_target.length), v_target.total);
    return jsonb_build_object(
        'status', 'ok',
        'target_file_id', v_id,
        'version', v_target.version,
        'current_hash', v_target.current_hash,
        'start', read_target.start,
        'end', v_end,
        'text', v_target.page,
        'total_chars', v_target.total,
        'truncated', v_end < v_target.total,
        'next_start', case when v_end < v_target.total then v_end end
    );
end
$function$;
comment on function patchdiff.read_target(text, bigint, bigint) is
'One page of a target''s canonical text from the zero-based code point start on, at most length code points:
4,000 for null, never more than 8,000. start equal to the total is an empty last page. From one observation.
Refuses with invalid_argument: a malformed id (invalid_target_id), a null or negative start or one past the
total, a length below 1. not_found for an unknown target. Contract: section 2.';
revoke all on function patchdiff.read_target(text, bigint, bigint) from public;
grant execute on function patchdiff.read_target(text, bigint, bigint) to patchdiff_editor, patchdiff_reader;
