-- req: SAVE-007, SAVE-010, SAVE-011
begin;
select plan(16);
-- sha256 of "abc"
create function pg_temp.judged(guards jsonb, content text default 'abc') returns text language sql as $$
    select coalesce(f ->> 'failure_reason', 'none') || coalesce(' ' || (f ->> 'code'), '')
    from patchdiff._save_failure(
        guards, 3, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', content
    ) as f
$$;
select is(pg_temp.judged(g.guards::jsonb), g.expected, g.guards)
from (
    values
    ('{}', 'none'),
    ('{"expected_target_version": null, "expected_current_hash": null}', 'none'),
    ('{"expected_target_version": 3}', 'none'),
    ('{"expected_target_version": 2}', 'target_version_mismatch'),
    ('{"expected_target_version": 4}', 'target_version_mismatch'),
    ('{"expected_target_version": -1}', 'context_invalid invalid_expected_target_version'),
    ('{"expected_target_version": true}', 'context_invalid invalid_expected_target_version'),
    ('{"expected_target_version": 3.0}', 'context_invalid invalid_expected_target_version'),
    ('{"expected_target_version": "3"}', 'context_invalid invalid_expected_target_version'),
    ('{"expected_current_hash": "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"}',
     'context_invalid invalid_expected_current_hash'),
    ('{"expected_current_hash": 5}', 'context_invalid invalid_expected_current_hash'),
    ('{"expected_current_hash": "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34"}',
     'target_hash_mismatch'),
    ('{"expected_target_version": 3,
       "expected_current_hash": "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34"}',
     'target_hash_mismatch'),
    ('{"expected_target_version": 2,
       "expected_current_hash": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}',
     'target_version_mismatch')
) as g (guards, expected);
select is(pg_temp.judged('{}', 'abd'), 'target_diverged', 'a text that does not have its hash is not saved');
select is(
    pg_temp.judged('{"expected_target_version": 2}', 'abd'), 'target_diverged', 'which is said before a stale guard is'
);
select * from finish();
rollback;
