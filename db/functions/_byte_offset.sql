-- A code point takes at most four bytes, so that many a code point of distance are looked at, and never more.
create or replace function patchdiff._byte_offset(
    content bytea,
    known_point bigint,
    known_byte bigint,
    point bigint
) returns bigint
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_distance constant bigint := abs(point - known_point);
    v_first bigint := known_byte;
    v_end bigint := known_byte;
begin
    if point >= known_point then
        v_end := least(octet_length(content), known_byte + 4 * v_distance);
        while v_end < octet_length(content) and get_byte(content, v_end::integer) & 192 = 128 loop
            v_end := v_end - 1;
        end loop;
        return known_byte + octet_length(left(
            convert_from(substring(content from v_first::integer + 1 for (v_end - v_first)::integer), 'UTF8'),
            v_distance::integer
        ));
    end if;
    v_first := greatest(0, known_byte - 4 * v_distance);
    while get_byte(content, v_first::integer) & 192 = 128 loop
        v_first := v_first + 1;
    end loop;
    return known_byte - octet_length(right(
        convert_from(substring(content from v_first::integer + 1 for (v_end - v_first)::integer), 'UTF8'),
        v_distance::integer
    ));
end
$function$;
comment on function patchdiff._byte_offset(bytea, bigint, bigint, bigint) is
'Where a code point of UTF-8 content begins, as a zero-based byte offset, found from a place whose code
point and byte offset are known. The code point must be one of the content''s, or the end of it.';
revoke all on function patchdiff._byte_offset(bytea, bigint, bigint, bigint) from public;
