-- req: LOG-012, LOG-014
begin;
select plan(9);
select has_function(
    'patchdiff', '_log_page_of_request', array['uuid', 'bigint', 'text', 'text', 'text'], 'signature'
);

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

select is(
    patchdiff._log_page_of_request(pg_temp.id(), g.before_sequence, g.status, g.content_hash, g.request_key),
    g.expected::bigint[], g.what
)
from (
    values
    ('the key alone', 9, null, null, 'key', '{4}'),
    ('everything', 5, 'rejected', 'same', 'key', '{4}'),
    ('at the bound', 4, null, null, 'key', '{}'),
    ('another status', 9, 'accepted', null, 'key', '{}'),
    ('another hash', 9, null, 'other', 'key', '{}'),
    ('another key', 9, null, null, 'KEY', '{}'),
    ('an empty key', 9, null, null, '', '{}')
) as g (what, before_sequence, status, content_hash, request_key, expected);
select is(
    patchdiff._log_page_of_request('00000000-0000-4000-8000-000000000000', 9, null, null, 'key'), '{}',
    'another target'
);
select * from finish();
rollback;
