-- req: SQL-007
begin;
select plan(5);
select has_function('patchdiff', '_target_refusal', array['text'], 'signature');
select is(
    patchdiff._target_refusal('0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'),
    jsonb_build_object(
        'status', 'not_found',
        'failure_detail', 'No target has the id 0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66:'
        || ' pass the target_file_id of an initialization on this database.'
    ),
    'a well-formed id'
);
select is(
    patchdiff._target_refusal('somebody''s text') - 'failure_detail',
    '{"status": "invalid_argument", "code": "invalid_target_id"}', 'a malformed id'
);
select is(
    patchdiff._target_refusal(null) ->> 'code', 'invalid_target_id', 'null'
);
select unalike(
    patchdiff._target_refusal('somebody''s text') ->> 'failure_detail', '%somebody%', 'a malformed id is not repeated'
);
select * from finish();
rollback;
