-- req: TX1-001, TX1-007, TX1-011, TX1-012
begin;
select plan(19);
select is(patchdiff._record('patchdiff-tx/' || n, r), r::jsonb, 'a record of tx/' || n)
from (values
    (1, '{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"a","replace":"b"}]}'),
    (2, '{"protocol":"patchdiff-tx/2","intent":"i","operations":[{"op":"match","match":"a","replace":"b"}]}'),
    (3, '{"protocol":"patchdiff-tx/3","intent":"i","replacement":""}')
) as v (n, r);
select throws_ok(format('select patchdiff._record(%L, %L)', 'patchdiff-tx/1', r), 'PD020', null, d)
from (values
    ('nonsense', 'no JSON'), ('[]', 'no object'), (null, 'nothing'),
    ('{"protocol":"patchdiff-tx/2","intent":"i","edits":[{"match":"a","replace":"b"}]}', 'another protocol'),
    ('{"protocol":"patchdiff-tx/1","edits":[{"match":"a","replace":"b"}]}', 'no intent'),
    ('{"protocol":"patchdiff-tx/1","intent":5,"edits":[{"match":"a","replace":"b"}]}', 'an intent that is no string'),
    ('{"protocol":"patchdiff-tx/1","intent":"i","edits":[]}', 'no edits'),
    ('{"protocol":"patchdiff-tx/1","intent":"i","edits":{}}', 'edits that are no list'),
    ('{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"a"}]}', 'a malformed edit'),
    ('{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"a","replace":"b"}],"x":1}', 'a further member'),
    ('{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"a","replace":"b","change_id":"chg_002"},'
     '{"match":"a","replace":"b"}]}', 'two changes of one name'),
    ('{"protocol":"patchdiff-tx/1", "intent":"i","edits":[{"match":"a","replace":"b"}]}', 'a space'),
    ('{"intent":"i","protocol":"patchdiff-tx/1","edits":[{"match":"a","replace":"b"}]}', 'another order'),
    ('{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"a","replace":"b"}],"intent":"j"}', 'two intents'),
    (repeat('[', 100000) || repeat(']', 100000), 'nested too deep')
) as v (r, d);
select throws_ok(
    $$ select patchdiff._record('patchdiff-tx/3', '{"protocol":"patchdiff-tx/3","intent":"i","replacement":null}') $$,
    'PD020', null, 'a replacement that is no string'
);
select * from finish();
rollback;
