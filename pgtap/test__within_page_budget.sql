-- req: LOG-038, LOG-039, LOG-041
begin;
select plan(10);
select has_function('patchdiff', '_within_page_budget', array['bigint[]'], 'signature');
select is(patchdiff._within_page_budget(g.given::bigint[]), g.expected::boolean[], g.what)
from (
    values
    ('nothing', '{}', '{}'),
    ('the budget exactly', '{1048576}', '{t}'),
    ('a first one beyond it', '{1048577}', '{t}'),
    ('two that fill it', '{1,1048575}', '{t,t}'),
    ('a byte too many', '{1,1048576}', '{t,f}'),
    ('a smaller one after one that is omitted', '{1,1048576,1048575}', '{t,f,t}'),
    ('nothing is left after a first one beyond it', '{1048577,1}', '{t,f}'),
    ('an empty one fits always but then', '{1048576,0,1,0}', '{t,t,f,t}'),
    ('each is judged on what is left', '{1000000,48577,48576,1,0}', '{t,f,t,f,t}')
) as g (what, given, expected);
select * from finish();
rollback;
