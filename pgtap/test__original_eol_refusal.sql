-- req: EOL-028, EOL-029
begin;
select plan(3);
select has_function('patchdiff', '_original_eol_refusal', array['text'], 'signature');
select is(
    patchdiff._original_eol_refusal(null) - 'failure_detail',
    '{"status": "invalid_argument", "code": "source_line_endings_unknown"}', 'nothing recorded'
);
select is(
    patchdiff._original_eol_refusal('mixed') - 'failure_detail',
    '{"status": "invalid_argument", "code": "original_eol_unrecoverable"}', 'mixed'
);
select * from finish();
rollback;
