begin;
select plan(7);
select has_function('patchdiff', '_page_limit', array['bigint'], 'signature');
select is(patchdiff._page_limit(g.given), g.expected::bigint, coalesce(g.given::text, 'null'))
from (values (null, 50), (1, 1), (51, 51), (200, 200), (201, 200), (9223372036854775807, 200))
as g (given, expected);
select * from finish();
rollback;
