-- req: LOG-003, LOG-026, LOG-035, LOG-037
begin;
select plan(8);
select has_function('patchdiff', '_log_entries', array['uuid', 'bigint[]', 'boolean'], 'signature');

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
    case when s % 2 = 1 then 'a' end, case when s % 2 = 0 then 'match_absent' end, '{}', 'f', 'record ' || s,
    case when s > 3 then 'same' else 'other' end, case when s = 4 then 'key' end, '2026-10-22 23:28:20+00', '', 'r'
from made cross join generate_series(1, 6) as s;

select is(patchdiff._log_entries(pg_temp.id(), '{}', false), '[]', 'no entries');
select is(patchdiff._log_entries(pg_temp.id(), '{}', true), '[]', 'no entries with content');
select is(
    jsonb_path_query_array(patchdiff._log_entries(pg_temp.id(), '{6,4,1}', false), '$[*].log_sequence'), '[6, 4, 1]',
    'those that were asked for, newest first'
);
select is(
    (patchdiff._log_entries(pg_temp.id(), '{4}', false) -> 0) - array['pdcp_log_id'],
    '{
        "log_sequence": 4, "status": "rejected", "protocol_version": "patchdiff-tx/1", "runtime_version": null,
        "before_version": 3, "after_version": null, "before_hash": "b", "after_hash": null,
        "failure_reason": "match_absent", "failure_detail": null, "failed_change_id": null,
        "parent_pdcp_log_id": null, "regeneration_attempt": null, "attempt": null, "client_request_id": "key",
        "request_fingerprint": "f", "pdcp_content_hash": "same", "diagnostic": null, "intent": null,
        "intent_truncated": false, "created_at": "2026-10-22T23:28:20Z"
    }'::jsonb,
    'exactly the contract''s fields'
);
select is(
    jsonb_path_query_array(patchdiff._log_entries(pg_temp.id(), '{6,5}', true), '$[*].pdcp_content'),
    '["record 6", "record 5"]', 'the stored records'
);
select is(
    patchdiff._log_entries(pg_temp.id(), '{7}', true), '[]', 'a sequence that the target does not have'
);
select is(
    patchdiff._log_entries('00000000-0000-4000-8000-000000000000', '{6}', true), '[]', 'another target'
);
select * from finish();
rollback;
