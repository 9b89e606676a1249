-- req: TX1-008, TX1-032
begin;
select plan(6);
select results_eq(
    $$ select * from patchdiff._record_changes('patchdiff-tx/1',
        '{"protocol":"patchdiff-tx/1","intent":"i","edits":[
          {"match":"a\r\nb","replace":"c\rd","change_id":null,"risk":"low"},
          {"match":"x","replace":"","change_id":"mine"}]}') $$,
    $$ values (1::bigint, 'chg_001', E'a\nb', E'c\nd', 'low'), (2::bigint, 'mine', 'x', '', null) $$,
    'changes in order, texts canonical, names by position where none is given'
);
select is(
    (select change_id from
        patchdiff._record_changes('patchdiff-tx/1', jsonb_build_object(
            'protocol', 'patchdiff-tx/1', 'intent', 'i', 'edits',
            (select jsonb_agg('{"match": "a", "replace": "b"}'::jsonb) from generate_series(1, 1000))
        )::text)
    where change_index = 1000),
    'chg_1000',
    'the thousandth name has four digits'
);
select
    throws_ok(
        format('select * from patchdiff._record_changes(%L, %L)', 'patchdiff-tx/1', r),
        'PD020',
        null,
        'no record: ' || r
    )
from unnest(array[
    'nonsense', '{"protocol":"patchdiff-tx/2","intent":"i","edits":[]}',
    '{"protocol":"patchdiff-tx/1","edits":[]}', '{"protocol":"patchdiff-tx/1","intent":"i","edits":{}}'
]) as r;
select * from finish();
rollback;
