create or replace function patchdiff._check_scopes(
    engine text,
    language text,
    scopes jsonb,
    bundle boolean,
    content_code_points bigint
) returns void
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_fits boolean := false;
begin
    if jsonb_typeof(scopes) = 'array' and engine <> '' and language <> '' and bundle is not null then
        select
            count(*) between 1 and case when bundle then 32 else 1 end
            and bool_and(
                jsonb_typeof(s.scope -> 'name') = 'string'
                and jsonb_typeof(s.scope -> 'kind') = 'string'
                and patchdiff._is_offset(s.scope -> 'start')
                and patchdiff._is_offset(s.scope -> 'end')
            )
        into v_fits
        from jsonb_array_elements(scopes) as s (scope);
    end if;
    if v_fits then
        select
            bool_and(
                r.scope_start <= r.scope_end
                and r.scope_end <= content_code_points
                and (not bundle or (r.scope_start < r.scope_end and r.previous_end <= r.scope_start))
            )
            and (not bundle or sum(r.scope_end - r.scope_start) <= 65536)
        into v_fits
        from (
            select
                (s.scope ->> 'start')::bigint as scope_start,
                (s.scope ->> 'end')::bigint as scope_end,
                lag((s.scope ->> 'end')::bigint, 1, 0::bigint)
                    over (order by (s.scope ->> 'start')::bigint, (s.scope ->> 'end')::bigint) as previous_end
            from jsonb_array_elements(scopes) as s (scope)
        ) as r;
    end if;
    if v_fits is not true then
        raise exception 'the scopes are none of this target'
            using errcode = 'PD040',
            hint = 'Give name, kind, start and end of one scope in the text; for a bundle of 1 to 32 that are not empty, '
            || 'do not overlap and have at most 65536 code points together.';
    end if;
end
$function$;
comment on function patchdiff._check_scopes(text, text, jsonb, boolean, bigint) is
'Raises PD040 unless scopes can be issued on a text of so many code points: one, or a bundle.';
revoke all on function patchdiff._check_scopes(text, text, jsonb, boolean, bigint) from public;
