begin;
select plan(3);
select results_eq(
    $$ select * from patchdiff._batch_operations('{"groups": [{"observation_id": "x", "operations": [1, 2]},
        {"observation_id": "y", "operations": []}, {"observation_id": "z", "operations": [3]}]}') $$,
    $$ values (1::bigint, 'x', '1'::jsonb), (2, 'x', '2'), (3, 'z', '3') $$,
    'in order over the groups, each with its receipt'
);
select is_empty(
    $$ select * from (values ('{}'), ('[]'), ('5'), ('{"groups": 5}'), ('{"groups": [5, null, {"operations": "x"}]}')) as r (record)
       cross join lateral patchdiff._batch_operations(r.record::jsonb) $$,
    'what has not the shape has none'
);
select is(
    (select min(b.observation_id) from patchdiff._batch_operations('{"groups": [{"operations": [1]}]}') as b), null,
    'a receipt can be missing'
);
select * from finish();
rollback;
