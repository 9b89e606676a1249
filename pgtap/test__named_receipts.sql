begin;
select plan(4);
select is(
    patchdiff._named_receipts('{"observation": {"observation_id": "11111111-0000-4000-8000-000000000000"}}')::text,
    '{11111111-0000-4000-8000-000000000000}', 'one in single form'
);
select is(
    patchdiff._named_receipts('{"observation": {"observation_ids":
        ["22222222-0000-4000-8000-000000000000", "x", 5, null, "11111111-0000-4000-8000-000000000000"]}}')::text,
    '{22222222-0000-4000-8000-000000000000,NULL,NULL,NULL,11111111-0000-4000-8000-000000000000}',
    'a batch''s in its order, null for one that is none'
);
select is(patchdiff._named_receipts('{"observation": {}}')::text, '{NULL}', 'none where none is named');
select is(patchdiff._named_receipts('{}')::text, '{NULL}', 'nor in a request that is not observed');
select * from finish();
rollback;
