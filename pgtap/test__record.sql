-- req: TX1-001, TX1-007, TX1-011, TX1-012
begin;
select plan(30);
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
-- each replacement of a good batch's text makes it no batch
create temp table batch as
select
    '{"protocol":"patchdiff-observed-batch/1","intent":"i",'
    || '"observation_bundle_id":"bbbbbbbb-0000-4000-8000-000000000000","groups":['
    || '{"observation_id":"11111111-0000-4000-8000-000000000000","operations":[{"op":"match","match":"a","replace":"b"}]}]}'
        as text;
select is(patchdiff._record('patchdiff-observed-batch/1', b.text), b.text::jsonb, 'a batch') from batch as b;
select throws_ok(
    format('select patchdiff._record(%L, %L)', 'patchdiff-observed-batch/1', replace(b.text, c.old, c.new)), 'PD020', null, c.what
)
from batch as b
cross join (
    values
    ('"observation_bundle_id":"bbbbbbbb-0000-4000-8000-000000000000",', '', 'no bundle'),
    ('"bbbbbbbb-', '"BBBBBBBB-', 'a bundle''s id in capitals'),
    ('"intent":"i",', '', 'a batch without intent'),
    ('"groups":[{', '"groups":[5,{', 'a group that is no object'),
    ('"operations":[{"op"', '"operations":[],"x":[{"op"', 'a group of another field'),
    ('"intent":"i","observation_bundle_id":"bbbbbbbb-0000-4000-8000-000000000000"',
     '"observation_bundle_id":"bbbbbbbb-0000-4000-8000-000000000000","intent":"i"', 'another order of a batch'),
    ('"observation_bundle_id":"', '"observation_id":"11111111-0000-4000-8000-000000000000","observation_bundle_id":"',
     'fields of both forms'),
    (']}]}', ']}],"operations":[{"op":"match","match":"a","replace":"b"}]}', 'operations beside groups')
) as c (old, new, what);
select throws_ok(
    format('select patchdiff._record(%L, %L)', 'patchdiff-tx/2', replace(b.text, 'patchdiff-observed-batch/1', 'patchdiff-tx/2')),
    'PD020', null, 'groups are no operations'
) from batch as b;
select throws_ok(
    $$ select patchdiff._record('patchdiff-tx/2', '{"protocol":"patchdiff-tx/2","intent":"i","operations":['
        || '{"op":"match","match":"a","replace":"b"}],"observation_bundle_id":"bbbbbbbb-0000-4000-8000-000000000000"}') $$,
    'PD020', null, 'a bundle beside operations'
);
select * from finish();
rollback;
