-- req: LEDG-024, LEDG-025, LEDG-026, LEDG-027, LEDG-028
begin;
select plan(14);
select has_function('patchdiff', '_with_ledger_intents', array['uuid', 'jsonb'], 'signature');

create temp table made as select patchdiff.initialize_target('f', 'text') as answer;
create function pg_temp.id() returns uuid language sql as $$
    select (answer ->> 'target_file_id')::uuid from made
$$;
create temp table records as
select row_number() over () as s, gen_random_uuid() as pdcp_log_id, v.*
from (
    values
    (
        'edits', 'patchdiff-tx/1', '{"protocol":"patchdiff-tx/1","intent":"' || repeat('😀', 257)
        || '","edits":[{"rationale":"first"},{},{"rationale":null}]}'
    ),
    ('operations', 'patchdiff-tx/2', '{"protocol":"patchdiff-tx/2","intent":"why","operations":[{"rationale":"only"}]}'),
    ('replacement', 'patchdiff-tx/3', '{"protocol":"patchdiff-tx/3","intent":"whole","replacement":"x"}'),
    ('evidence', 'patchdiff-tx/1', '{"protocol":"patchdiff-invalid-input/1","intent":"x","edits":[{"rationale":"y"}]}'),
    ('nonsense', 'patchdiff-tx/1', '{"intent"'),
    (
        'deep', 'patchdiff-tx/1', '{"intent":"x","edits":[{"rationale":"y"},' || repeat('[', 100000)
        || repeat(']', 100000) || ']}'
    )
) as v (what, protocol_version, record);
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version, before_hash,
    after_version, after_hash, request_envelope, request_fingerprint, pdcp_content, pdcp_content_hash, created_at,
    previous_row_hash, row_hash
)
select
    pg_temp.id(), r.s, r.pdcp_log_id, 'accepted', r.protocol_version, (answer ->> 'active_editing_cycle_id')::uuid,
    r.s - 1, 'b', r.s, 'a', '{}', 'f', r.record, 'h', now(), '', 'r'
from made cross join records as r;

create temp table cases as
select row_number() over () as s, v.*
from (
    values
    ('edits', 1, null, null, 'first', repeat('😀', 257), 'first', 'an edit with a rationale, the intent whole'),
    ('edits', 2, null, null, repeat('😀', 257), repeat('😀', 257), null, 'an edit without'),
    ('edits', 3, 'stored', null, 'stored', repeat('😀', 257), null, 'a stored intent stays'),
    ('edits', 2, 'i', 't', 'i', 't', null, 'a change that has its intents stays, beside those of its attempt'),
    ('operations', 1, null, null, 'only', 'why', 'only', 'operations'),
    ('replacement', 1, 'stored', null, 'stored', 'stored', null, 'a replacement''s intent comes from its change'),
    ('evidence', 1, null, null, null, null, null, 'evidence of invalid input'),
    ('evidence', 2, 'stored', null, 'stored', null, null, 'evidence of invalid input, beside a stored intent'),
    ('nonsense', 1, null, null, null, null, null, 'no JSON'),
    ('deep', 1, 'stored', null, 'stored', null, null, 'nested 100,000 levels deep')
) as v (attempt, change_index, intent, transaction_intent, intent_then, transaction_intent_then, rationale_then, what);
create temp table completed as
select patchdiff._with_ledger_intents(
    pg_temp.id(), jsonb_agg(
        jsonb_build_object(
            'pdcp_log_id', r.pdcp_log_id, 'change_index', c.change_index, 'intent', c.intent,
            'transaction_intent', c.transaction_intent, 'rationale', null, 'derived', '{"span_start": 3}'::jsonb
        )
        order by c.s
    )
) as entries
from cases as c inner join records as r on c.attempt = r.what;
select is(
    completed.entries -> (c.s::integer - 1),
    jsonb_build_object(
        'pdcp_log_id', r.pdcp_log_id, 'change_index', c.change_index, 'intent', c.intent_then,
        'transaction_intent', c.transaction_intent_then, 'rationale', c.rationale_then,
        'derived', '{"span_start": 3}'::jsonb
    ),
    c.what
)
from cases as c inner join records as r on c.attempt = r.what cross join completed
order by c.s;
select is(jsonb_array_length(entries), 10, 'no entry more, no entry less') from completed;
select is(
    patchdiff._with_ledger_intents(pg_temp.id(), jsonb_build_array(jsonb_build_object(
        'pdcp_log_id', r.pdcp_log_id, 'change_index', 1, 'intent', null, 'transaction_intent', null, 'rationale', null
    ))) -> 0,
    jsonb_build_object(
        'pdcp_log_id', r.pdcp_log_id, 'change_index', 1, 'intent', 'whole', 'transaction_intent', 'whole',
        'rationale', null
    ),
    'a replacement without a stored intent: from the record'
)
from records as r where r.what = 'replacement';
select is(
    patchdiff._with_ledger_intents('00000000-0000-4000-8000-000000000000', jsonb_build_array(jsonb_build_object(
        'pdcp_log_id', r.pdcp_log_id, 'change_index', 1, 'intent', null, 'transaction_intent', null, 'rationale', null
    ))) -> 0 -> 'transaction_intent',
    'null', 'another target''s record is not read'
)
from records as r where r.what = 'replacement';
select * from finish();
rollback;
