begin;
select plan(6);
select function_privs_are(
    'patchdiff', 'open_observation', array['text', 'boolean'], 'patchdiff_editor', array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'open_observation', array['text', 'boolean'], 'patchdiff_reader', array[]::text [], 'the reader may not'
);
create temp table made as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f.py', E'one\r\n', 'text/x-python') as a (answer);
select is(
    (select row(o.*)::text from made as m cross join lateral patchdiff.open_observation(m.target, l.for_update) as o),
    (select row(null::jsonb, 'f.py', 'text/x-python', 0, m.hash, E'one\n')::text from made as m),
    case when l.for_update then 'locked' else 'not locked' end
) from (values (true), (false)) as l (for_update);
select is(
    (select o.refusal ->> 'status' from patchdiff.open_observation('00000000-0000-4000-8000-000000000000') as o), 'not_found',
    'an unknown target'
);
select is((select o.refusal ->> 'code' from patchdiff.open_observation('x', true) as o), 'invalid_target_id', 'no id');
select * from finish();
rollback;
