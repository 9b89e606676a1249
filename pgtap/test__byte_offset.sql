begin;
select plan(13);
-- one, two, three and four bytes: aé中😀b begins at 0, 1, 3, 6, 10 and ends at 11
create function pg_temp.offset_of(known_point bigint, known_byte bigint, point bigint) returns bigint
language sql as $$
    select patchdiff._byte_offset(
        convert_to(E'a\u00E9\u4E2D\U0001F600b', 'UTF8'), known_point, known_byte, point
    )
$$;
select is(pg_temp.offset_of(g.known_point, g.known_byte, g.point), g.expected, g.known_point || ' to ' || g.point)
from (
    values
    (0, 0, 0, 0::bigint),
    (0, 0, 1, 1),
    (0, 0, 4, 10),
    (0, 0, 5, 11),
    (1, 1, 3, 6),
    (3, 6, 4, 10),
    (3, 6, 3, 6),
    (5, 11, 5, 11),
    (5, 11, 4, 10),
    (4, 10, 1, 1),
    (3, 6, 0, 0)
) as g (known_point, known_byte, point, expected);
select is(
    patchdiff._byte_offset(convert_to(repeat(E'\U0001F600', 5000), 'UTF8'), 0, 0, 4999),
    19996::bigint, 'forwards over nothing but the longest characters'
);
select is(
    patchdiff._byte_offset(convert_to(repeat(E'\U0001F600', 5000), 'UTF8'), 5000, 20000, 1),
    4::bigint, 'and backwards'
);
select * from finish();
rollback;
