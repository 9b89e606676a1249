-- req: LEDG-003, LEDG-014, LEDG-015, LEDG-016
begin;
select plan(9);
select has_function('patchdiff', '_ledger_answer', array['uuid', 'bigint[]', 'boolean'], 'signature');

create temp table made as select patchdiff.initialize_target('f', 'text') as answer;
create function pg_temp.id() returns uuid language sql as $$
    select (answer ->> 'target_file_id')::uuid from made
$$;
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version, before_hash,
    after_version, after_hash, failure_reason, request_envelope, request_fingerprint, pdcp_content, pdcp_content_hash,
    client_request_id, created_at, previous_row_hash, row_hash
)
select
    pg_temp.id(), s, gen_random_uuid(), case when s % 2 = 1 then 'accepted' else 'rejected' end, 'patchdiff-tx/1',
    (answer ->> 'active_editing_cycle_id')::uuid, s - 1, 'b', case when s % 2 = 1 then s end,
    case when s % 2 = 1 then 'a' end, case when s % 2 = 0 then 'match_absent' end, '{}', 'f', '{"intent": "read from the record"}',
    case when s > 3 then 'same' else 'other' end, case when s = 4 then 'key' end, '2026-10-22 23:28:20+00', '', 'r'
from made cross join generate_series(1, 3) as s;
insert into patchdiff.editing_cycles (target_file_id, editing_cycle_id, opened_version, closed_at, closed_version)
values (pg_temp.id(), 'cccccccc-0000-4000-8000-000000000000', 0, now(), 0);
insert into patchdiff.manifest_ledger (
    target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version, after_version,
    change_index, change_id, intent, transaction_intent, origin, derived, created_at
)
select
    l.target_file_id, s, l.pdcp_log_id, l.log_sequence,
    case when s < 4 then 'cccccccc-0000-4000-8000-000000000000' else l.editing_cycle_id end, 0, 1, s,
    'chg_00' || s, 'why', case when s <> 4 then 'the whole' end, 'typed', '{"span_start": 3}', '2026-10-22 23:28:20+00'
from patchdiff.append_only_pdcp_logs as l cross join generate_series(1, 5) as s
where l.target_file_id = pg_temp.id() and l.log_sequence = 1;

select is(
    patchdiff._ledger_answer(pg_temp.id(), '{}', false), '{"entries": [], "has_more": false, "next_sequence": null}',
    'no entries'
);
select is(
    jsonb_path_query_array(a.answer, '$.entries[*].ledger_sequence'), '[1, 3, 5]',
    'those that were asked for, oldest first'
)
from patchdiff._ledger_answer(pg_temp.id(), '{5,3,1}', false) as a (answer);
select is(a.answer - 'entries', '{"has_more": true, "next_sequence": 1}', 'more: the next page is below the lowest')
from patchdiff._ledger_answer(pg_temp.id(), '{5,3,1}', true) as a (answer);
select is(a.answer - 'entries', '{"has_more": false, "next_sequence": null}', 'no more: there is no next page')
from patchdiff._ledger_answer(pg_temp.id(), '{5,3,1}', false) as a (answer);
select is(
    (patchdiff._ledger_answer(pg_temp.id(), '{2}', false) -> 'entries' -> 0) - 'pdcp_log_id',
    '{
        "ledger_sequence": 2, "log_sequence": 1, "before_version": 0, "after_version": 1,
        "editing_cycle_id": "cccccccc-0000-4000-8000-000000000000", "change_index": 2, "change_id": "chg_002",
        "intent": "why", "transaction_intent": "the whole", "rationale": null, "input_state": null,
        "output_state": null, "affected_region": null, "user_visible_change": null, "risk": null, "origin": "typed",
        "derived": {"span_start": 3}, "created_at": "2026-10-22T23:28:20Z"
    }'::jsonb,
    'exactly the contract''s fields, the intents from their columns'
);
select is(
    jsonb_path_query_array(a.answer, '$.entries[*].transaction_intent'),
    '["the whole", "read from the record", "the whole"]',
    'intents that are missing are read from the record, between others'
)
from patchdiff._ledger_answer(pg_temp.id(), '{5,4,3}', false) as a (answer);
select is(patchdiff._ledger_answer(g.target_file_id, g.ledger_sequences::bigint[], false) -> 'entries', '[]', g.what)
from (
    values
    (pg_temp.id(), '{6}', 'a sequence that the target does not have'),
    ('00000000-0000-4000-8000-000000000000', '{5}', 'another target')
) as g (target_file_id, ledger_sequences, what);
select * from finish();
rollback;
