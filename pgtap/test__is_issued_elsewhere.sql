begin;
select plan(5);
create temp table made as
select
    a.answer ->> 'target_file_id' as target,
    b.answer ->> 'target_file_id' as other,
    patchdiff.issue_observations(
        a.answer ->> 'target_file_id', 0, a.answer ->> 'current_hash', 'e', 'l',
        '[{"name": "n", "kind": "k", "start": 0, "end": 1}]', true
    ) as answer
from
    patchdiff.initialize_target('f', 'text') as a (answer),
    patchdiff.initialize_target('g', 'text') as b (answer);
select is(
    patchdiff._is_issued_elsewhere(m.other::uuid, (m.answer #>> '{observations,0,observation_id}')::uuid)::text,
    'true', 'a receipt of another target'
) from made as m;
select is(
    patchdiff._is_issued_elsewhere(m.other::uuid, (m.answer ->> 'observation_bundle_id')::uuid)::text,
    'true', 'a bundle of another target'
) from made as m;
select is(
    patchdiff._is_issued_elsewhere(m.target::uuid, (m.answer #>> '{observations,0,observation_id}')::uuid)::text,
    'false', 'a receipt of the target itself'
) from made as m;
select is(
    patchdiff._is_issued_elsewhere(m.target::uuid, (m.answer ->> 'observation_bundle_id')::uuid)::text,
    'false', 'a bundle of the target itself'
) from made as m;
select is(
    patchdiff._is_issued_elsewhere(m.target::uuid, '00000000-0000-4000-8000-000000000000')::text, 'false', 'neither'
) from made as m;
select * from finish();
rollback;
