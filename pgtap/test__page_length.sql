begin;
select plan(7);
select has_function('patchdiff', '_page_length', array['bigint'], 'signature');
select is(patchdiff._page_length(g.given), g.expected::bigint, coalesce(g.given::text, 'null'))
from (values (null, 4000), (1, 1), (4001, 4001), (8000, 8000), (8001, 8000), (9223372036854775807, 8000))
as g (given, expected);
select * from finish();
rollback;
