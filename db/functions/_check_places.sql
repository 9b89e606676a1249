create or replace function patchdiff._check_places(
    span_starts bigint[],
    byte_starts bigint[],
    change_count bigint
) returns void
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if (
        array_ndims(span_starts) = 1
        and array_ndims(byte_starts) = 1
        and array_lower(span_starts, 1) = 1
        and array_lower(byte_starts, 1) = 1
        and cardinality(span_starts) = change_count
        and cardinality(byte_starts) = change_count
        and not exists (
            select from unnest(span_starts || byte_starts) as p (place)
            where (p.place between 0 and 1073741824) is not true
        )
    ) is not true then
        raise exception 'span_starts and byte_starts must hold one offset for each of % changes', change_count
            using errcode = 'PD021',
            hint = 'Send where each change was found, in the record''s order, in code points and in bytes.';
    end if;
end
$function$;
comment on function patchdiff._check_places(bigint[], bigint[], bigint) is
'Raises PD021 unless there is one place for each change, in code points and in bytes, that a text can have.';
revoke all on function patchdiff._check_places(bigint[], bigint[], bigint) from public;
