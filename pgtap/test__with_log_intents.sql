-- req: LOG-030, LOG-031, LOG-032, LOG-033, LOG-034, LOG-046
begin;
select plan(16);
select has_function('patchdiff', '_with_log_intents', array['uuid', 'jsonb'], 'signature');

create temp table made as select patchdiff.initialize_target('f', 'text') as answer;
create function pg_temp.id() returns uuid language sql as $$
    select (answer ->> 'target_file_id')::uuid from made
$$;
create temp table cases as
select row_number() over () as s, v.*
from (
    values
    ('256 code points', '{"intent":"' || repeat('😀', 256) || '"}', repeat('😀', 256), false),
    ('257 code points', '{"intent":"' || repeat('é', 257) || '"}', repeat('é', 256), true),
    ('escaped', '{"intent":"\u00e9\ud83d\ude00\n"}', e'é😀\n', false),
    ('empty', '{"intent":""}', '', false),
    (
        'a whole replacement above 64 KB', '{"protocol":"patchdiff-tx/3","intent":"why","replacement":"'
        || repeat('x', 70000) || '"}', 'why', false
    ),
    ('at the end of a long record', '{"edits":[{"match":"' || repeat('x', 70000) || '"}],"intent":"why"}', 'why', false),
    ('none', '{"protocol":"patchdiff-tx/1","edits":[]}', null, false),
    ('no text', '{"intent":["x"]}', null, false),
    ('invalid input', '{"protocol":"patchdiff-invalid-input/1","intent":"x"}', null, false),
    ('no JSON', '{"intent":"x"', null, false),
    ('a lone surrogate', '{"intent":"\ud800"}', null, false),
    ('empty record', '', null, false),
    (
        'nested 100,000 levels deep', '{"intent":"x","edits":' || repeat('[', 100000) || repeat(']', 100000) || '}',
        null, false
    )
) as v (what, record, intent, truncated);
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version, before_hash,
    failure_reason, request_envelope, request_fingerprint, pdcp_content, pdcp_content_hash, created_at,
    previous_row_hash, row_hash
)
select
    pg_temp.id(), c.s, gen_random_uuid(), 'rejected', 'patchdiff-tx/1', (answer ->> 'active_editing_cycle_id')::uuid,
    0, 'b', 'match_absent', '{}', 'f', c.record, 'h', now(), '', 'r'
from made cross join cases as c;

create temp table completed as
select patchdiff._with_log_intents(
    pg_temp.id(), jsonb_agg(jsonb_build_object('log_sequence', s, 'intent_truncated', null) order by s desc)
) as entries
from cases;
select is(
    completed.entries -> (13 - c.s::integer),
    jsonb_build_object('log_sequence', c.s, 'intent', c.intent, 'intent_truncated', c.truncated), c.what
)
from cases as c cross join completed
order by c.s;
select is(
    patchdiff._with_log_intents(
        pg_temp.id(), '[{"log_sequence": 4, "intent": null, "intent_truncated": false, "status": "x"}]'
    ),
    '[{"log_sequence": 4, "intent": null, "intent_truncated": false, "status": "x"}]',
    'an entry that has its intent stays, null too'
);
select is(
    patchdiff._with_log_intents(
        '00000000-0000-4000-8000-000000000000', '[{"log_sequence": 4, "intent": null, "intent_truncated": null}]'
    ),
    '[{"log_sequence": 4, "intent": null, "intent_truncated": null}]', 'another target''s record is not read'
);
select * from finish();
rollback;
