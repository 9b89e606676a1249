begin;
select plan(9);
select is(patchdiff._check_places('{0,1073741824}', '{0,7}', 2)::text, '', 'a place for each change');
select throws_ok(format('select patchdiff._check_places(%L, %L, 1)', p, b), 'PD021', null, d)
from (values
    ('{}', '{}', 'none'), ('{1,2}', '{1,2}', 'one too many'), ('{1}', '{1,2}', 'more bytes than code points'),
    ('{-1}', '{0}', 'before the text'), ('{1073741825}', '{0}', 'beyond what a text can be'), ('{null}', '{0}', 'null'),
    ('{{ 1 }}', '{1}', 'two dimensions'), ('[5:5]={1}', '{1}', 'another lower bound')
) as v (p, b, d);
select * from finish();
rollback;
