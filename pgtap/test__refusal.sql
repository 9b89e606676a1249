-- req: SQL-007
begin;
select plan(3);
select has_function('patchdiff', '_refusal', array['text', 'text', 'text'], 'signature');
select is(
    patchdiff._refusal('invalid_argument', 'some_code', 'What to do.'),
    '{"status": "invalid_argument", "code": "some_code", "failure_detail": "What to do."}', 'with a code'
);
select is(
    patchdiff._refusal('not_found', null, 'What to do.'),
    '{"status": "not_found", "failure_detail": "What to do."}', 'without a code'
);
select * from finish();
rollback;
