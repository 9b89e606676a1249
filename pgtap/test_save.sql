-- req: SAVE-001, SAVE-007, SAVE-008, SAVE-009, SAVE-014, SQL-013
begin;
select plan(16);
select has_function('patchdiff', 'save', array['text', 'bigint', 'text', 'boolean'], 'signature');
select function_privs_are(
    'patchdiff', 'save', array['text', 'bigint', 'text', 'boolean'], 'patchdiff_editor', array['EXECUTE'],
    'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'save', array['text', 'bigint', 'text', 'boolean'], 'patchdiff_reader', array[]::text [],
    'the reader may not'
);
create temp table made on commit drop as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f', 'alpha') as a (answer);
select is((select patchdiff.save(m.target) ->> 'status' from made as m), 'saved', 'the target alone will do');
select is(
    (
        select patchdiff.save(
            target_file_id => m.target, expected_target_version => 0, expected_current_hash => m.hash,
            export_after_save => true
        ) -> 'export' ->> 'content' from made as m
    ),
    'alpha', 'the tool''s names, both guards, and an export'
);
select is(
    (select patchdiff.save(m.target, 1) ->> 'failure_reason' from made as m), 'target_version_mismatch', 'a version ahead'
);
select is(
    (select patchdiff.save(m.target, -1) ->> 'failure_reason' from made as m), 'context_invalid', 'a negative version'
);
select is(
    (select patchdiff.save(m.target, 0, 'abc') ->> 'failure_reason' from made as m), 'context_invalid', 'a malformed hash'
);
-- there and back: the text is what it was, the version is not
select is(
    (
        select patchdiff.submit_replacement(m.target, 'away', 'beta', expected_target_version => 0) ->> 'status'
        from made as m
    ),
    'accepted', 'away'
);
select is(
    (select patchdiff.save(m.target, expected_current_hash => m.hash) ->> 'failure_reason' from made as m),
    'target_hash_mismatch', 'the old hash is stale'
);
select is(
    (
        select patchdiff.submit_replacement(m.target, 'back', 'alpha', expected_target_version => 1) ->> 'status'
        from made as m
    ),
    'accepted', 'and back'
);
select is(
    (select patchdiff.save(m.target, 0) ->> 'failure_reason' from made as m), 'target_version_mismatch',
    'the old version does not pass'
);
select is(
    (select patchdiff.save(m.target, 0, m.hash) ->> 'failure_reason' from made as m), 'target_version_mismatch',
    'not even beside a hash that does'
);
select is(
    (select patchdiff.save(m.target, expected_current_hash => m.hash) ->> 'status' from made as m), 'saved',
    'the hash alone does'
);
select is(
    (select patchdiff.save(m.target, 2, m.hash) ->> 'version' from made as m), '2', 'and both of now do'
);
select is(
    (select patchdiff.save('00000000-0000-4000-8000-000000000000') ->> 'status'), 'not_found', 'no such target'
);
select * from finish();
rollback;
