-- req: SQL-018
begin;
select plan(12);
select results_eq(
    $$ select * from patchdiff._record_intents('{"protocol":"patchdiff-tx/1","intent":"why",
        "edits":[{"rationale":"first"},{"rationale":null},{},{"rationale":7}]}') $$,
    $$ values ('why', array['first', null, null, null]) $$,
    'the intent, and the rationale of each edit'
);
select results_eq(
    $$ select * from patchdiff._record_intents('{"protocol":"patchdiff-tx/2","intent":"why",
        "operations":[{"rationale":"only"}]}') $$,
    $$ values ('why', array['only']) $$,
    'operations too'
);
select
    results_eq(
        format('select * from patchdiff._record_intents(%L)', r), $$ values (null::text, null::text []) $$, d
    )
from (
    values
    ('nonsense', 'no JSON'),
    ('{"intent": "\ud800"}', 'a lone surrogate'),
    ('{"intent": "\u0000"}', 'a NUL'),
    ('"text"', 'no object'),
    ('{"protocol":"patchdiff-invalid-input/1","intent":"x"}', 'evidence of invalid input'),
    (repeat('[', 100000) || repeat(']', 100000), 'nested 100,000 levels deep')
) as v (r, d);
select is(
    (select transaction_intent from patchdiff._record_intents('{"intent": ["x"], "edits": 3}')),
    null,
    'an intent that is no string'
);
select results_eq(
    $$ select * from patchdiff._record_intents('{"protocol":"patchdiff-observed-batch/1","intent":"why","groups":[
        {"operations":[{"rationale":"first"},{}]},{"operations":[{"rationale":7},{"rationale":"last"}]}]}') $$,
    $$ values ('why', array['first', null, null, 'last']) $$,
    'a batch: over its groups, in order'
);
select results_eq(
    $$ select * from patchdiff._record_intents('{"protocol":"patchdiff-observed-batch/1","intent":"why","groups":[
        5,{"operations":{}},{"operations":[{"rationale":"only"}]}]}') $$,
    $$ values ('why', array['only']) $$,
    'a batch that is none is read as far as it goes'
);
select results_eq(
    $$ select * from patchdiff._record_intents('{"intent":"why","operations":[{"rationale":"mine"}],"groups":[
        {"operations":[{"rationale":"theirs"}]}]}') $$,
    $$ values ('why', array['mine']) $$,
    'beside operations, groups are a further field'
);
select * from finish();
rollback;
