-- req: LOG-003, LOG-016, LOG-017, LOG-026, LOG-035, LOG-037
begin;
select plan(12);
select has_function('patchdiff', '_log_answer', array['uuid', 'bigint[]', 'boolean', 'boolean'], 'signature');

create temp table made as select patchdiff.initialize_target('f', 'text') as answer;
create function pg_temp.id() returns uuid language sql as $$
    select (answer ->> 'target_file_id')::uuid from made
$$;
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version, before_hash,
    after_version, after_hash, failure_reason, request_envelope, request_fingerprint, pdcp_content, pdcp_content_hash,
    client_request_id, intent, intent_truncated, created_at, previous_row_hash, row_hash
)
select
    pg_temp.id(), s, gen_random_uuid(), case when s % 2 = 1 then 'accepted' else 'rejected' end, 'patchdiff-tx/1',
    (answer ->> 'active_editing_cycle_id')::uuid, s - 1, 'b', case when s % 2 = 1 then s end,
    case when s % 2 = 1 then 'a' end, case when s % 2 = 0 then 'match_absent' end, '{}', 'f',
    case when s = 2 then '{"intent": "read from the record"}' else 'record ' || s end,
    case when s > 3 then 'same' else 'other' end, case when s = 4 then 'key' end,
    case when s <> 2 then 'stored' end, case when s <> 2 then true end, '2026-10-22 23:28:20+00', '', 'r'
from made cross join generate_series(1, 6) as s;

select is(
    patchdiff._log_answer(pg_temp.id(), '{}', false, c.include_content),
    '{"entries": [], "has_more": false, "next_sequence": null}', 'no entries'
)
from (values (false), (true)) as c (include_content);
select is(
    jsonb_path_query_array(a.answer, '$.entries[*].log_sequence'), '[6, 4, 1]',
    'those that were asked for, newest first'
)
from patchdiff._log_answer(pg_temp.id(), '{6,4,1}', true, false) as a (answer);
select is(a.answer - 'entries', '{"has_more": true, "next_sequence": 1}', 'more: the next page is below the lowest')
from patchdiff._log_answer(pg_temp.id(), '{6,4,1}', true, false) as a (answer);
select is(a.answer - 'entries', '{"has_more": false, "next_sequence": null}', 'no more: there is no next page')
from patchdiff._log_answer(pg_temp.id(), '{6,4,1}', false, false) as a (answer);
select is(
    (patchdiff._log_answer(pg_temp.id(), '{4}', false, false) -> 'entries' -> 0) - array['pdcp_log_id'],
    '{
        "log_sequence": 4, "status": "rejected", "protocol_version": "patchdiff-tx/1", "runtime_version": null,
        "before_version": 3, "after_version": null, "before_hash": "b", "after_hash": null,
        "failure_reason": "match_absent", "failure_detail": null, "failed_change_id": null,
        "parent_pdcp_log_id": null, "regeneration_attempt": null, "attempt": null, "client_request_id": "key",
        "request_fingerprint": "f", "pdcp_content_hash": "same", "diagnostic": null, "intent": "stored",
        "intent_truncated": true, "created_at": "2026-10-22T23:28:20Z"
    }'::jsonb,
    'exactly the contract''s fields, the intent from its columns'
);
select is(
    jsonb_path_query_array(a.answer, '$.entries[*].pdcp_content'), '["record 6", "record 5"]', 'the stored records'
)
from patchdiff._log_answer(pg_temp.id(), '{6,5}', false, true) as a (answer);
select is(
    jsonb_path_query_array(a.answer, '$.entries[*].intent'), '["stored", "read from the record", "stored"]',
    'an intent that is missing is read from the record, between others'
)
from patchdiff._log_answer(pg_temp.id(), '{6,2,1}', false, false) as a (answer);
select is(
    a.answer -> 'entries' -> 0,
    (patchdiff._log_answer(pg_temp.id(), '{2}', false, false) -> 'entries' -> 0)
    || '{"pdcp_content": "{\"intent\": \"read from the record\"}"}',
    'with the record too'
)
from patchdiff._log_answer(pg_temp.id(), '{2}', false, true) as a (answer);
select is(
    patchdiff._log_answer(g.target_file_id, g.log_sequences::bigint[], false, true) -> 'entries', '[]', g.what
)
from (
    values
    (pg_temp.id(), '{7}', 'a sequence that the target does not have'),
    ('00000000-0000-4000-8000-000000000000', '{6}', 'another target')
) as g (target_file_id, log_sequences, what);
select * from finish();
rollback;
