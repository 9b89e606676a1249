-- req: TX1-008, TX1-032
begin;
select plan(6);
select results_eq(
    $$ select * from patchdiff._record_changes('patchdiff-tx/1',
        '{"protocol":"patchdiff-tx/1","intent":"i","edits":[
          {"match":"a\r\nb","replace":"c\rd","change_id":null,"risk":"low"},
          {"match":"x","replace":"","change_id":"mine"}]}') $$,
    $$ values (1::bigint, 'chg_001', null::text, null::bigint, null::bigint, E'a\nb', E'c\nd', null::text, null::text, 'low',
          null::uuid), (2::bigint, 'mine', null, null, null, 'x', '', null, null, null, null) $$,
    'changes in order, texts canonical, names by position where none is given'
);
select is(
    (select change_id from
        patchdiff._record_changes('patchdiff-tx/1', '{"protocol":"patchdiff-tx/1","intent":"i","edits":' || (
            select jsonb_agg('{"match": "a", "replace": "b"}'::jsonb)::text from generate_series(1, 1000)
        ) || '}')
    where change_index = 1000),
    'chg_1000',
    'the thousandth name has four digits'
);
select results_eq(
    $$ select * from patchdiff._record_changes('patchdiff-tx/2',
        '{"protocol":"patchdiff-tx/2","intent":"i","operations":[
          {"op":"span","start":1,"end":2,"expected_text":"\r\n","replace":"\r","risk":null,"expected_before":"b"},
          {"op":"match","match":"x","replace":"y"}]}') $$,
    $$ values
        (1::bigint, 'chg_001', 'span', 1::bigint, 2::bigint, E'\n', E'\n', 'b', null::text, null::text,
         null::uuid),
        (2::bigint, 'chg_002', null, null, null, 'x', 'y', null, null, null, null) $$,
    'spans match what they expect'
);
select results_eq(
    $$ select * from patchdiff._record_changes('patchdiff-tx/3',
        '{"protocol":"patchdiff-tx/3","intent":"i","replacement":"a\r\nb"}') $$,
    $$ values (
        1::bigint, 'chg_001', 'replace_all', 0::bigint, null::bigint, null::text, E'a\nb', null::text, null::text, null::text,
        null::uuid
    ) $$,
    'a whole replacement matches whatever is there'
);
select throws_ok(
    $$ select * from patchdiff._record_changes('patchdiff-tx/1', '{"protocol":"patchdiff-tx/1","edits":[]}') $$,
    'PD020', null, 'no record'
);
select results_eq(
    $$ select c.change_index, c.change_id, c.place, c.observation_id
       from patchdiff._record_changes('patchdiff-observed-batch/1', '{"protocol":"patchdiff-observed-batch/1","intent":"i",'
        || '"observation_bundle_id":"bbbbbbbb-0000-4000-8000-000000000000","groups":['
        || '{"observation_id":"22222222-0000-4000-8000-000000000000","operations":['
        || '{"op":"match","match":"x","replace":"y"},'
        || '{"op":"span","start":3,"end":4,"expected_text":"a","replace":"b"}]},'
        || '{"observation_id":"11111111-0000-4000-8000-000000000000","operations":['
        || '{"op":"match","match":"x","replace":"y","change_id":"mine"}]}]}') as c $$,
    $$ values
        (1::bigint, 'chg_001', null::bigint, '22222222-0000-4000-8000-000000000000'::uuid),
        (2, 'chg_002', 3, '22222222-0000-4000-8000-000000000000'::uuid),
        (3, 'mine', null, '11111111-0000-4000-8000-000000000000'::uuid) $$,
    'a batch: one after the other over its groups, each with its receipt and the place in its scope'
);
select * from finish();
rollback;
