begin;
select plan(3);
create temp table made as
select patchdiff.issue_observations(
    a.answer ->> 'target_file_id', 0, a.answer ->> 'current_hash', 'e', 'l', '[{"name": "n", "kind": "k", "start": 0, "end": 1}]',
    true
) as answer
from patchdiff.initialize_target('f', 'text') as a (answer);
select is(
    patchdiff._is_issued((m.answer #>> '{observations,0,observation_id}')::uuid)::text, 'true', 'a receipt of some target'
) from made as m;
select is(patchdiff._is_issued((m.answer ->> 'observation_bundle_id')::uuid)::text, 'true', 'a bundle') from made as m;
select is(patchdiff._is_issued('00000000-0000-4000-8000-000000000000')::text, 'false', 'neither');
select * from finish();
rollback;
