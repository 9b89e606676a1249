-- req: LOG-014
begin;
select plan(15);
select has_function(
    'patchdiff', '_log_page', array['uuid', 'bigint', 'bigint', 'text', 'text', 'text'], 'signature'
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
    patchdiff._log_page(pg_temp.id(), g.entries, g.before_sequence, g.status, g.content_hash, g.request_key),
    g.expected::bigint[], g.what
)
from (
    values
    ('all, newest first', 99, null, null, null, null, '{6,5,4,3,2,1}'),
    ('at most so many', 2, null, null, null, null, '{6,5}'),
    ('below a bound', 2, 4, null, null, null, '{3,2}'),
    ('nothing below', 2, 1, null, null, null, '{}'),
    ('status', 2, null, 'rejected', null, null, '{6,4}'),
    ('status below a bound', 99, 6, 'rejected', null, null, '{4,2}'),
    ('hash', 99, null, null, 'same', null, '{6,5,4}'),
    ('hash below a bound, at most so many', 1, 6, null, 'same', null, '{5}'),
    ('status and hash', 99, null, 'rejected', 'same', null, '{6,4}'),
    ('status and hash below a bound', 99, 6, 'rejected', 'same', null, '{4}'),
    ('status and hash, at most so many', 1, null, 'rejected', 'same', null, '{6}'),
    ('key', 99, null, null, null, 'key', '{4}'),
    ('key and filters', 99, 5, 'rejected', 'same', 'key', '{4}'),
    ('key and a filter that it does not pass', 99, null, 'accepted', null, 'key', '{}')
) as g (what, entries, before_sequence, status, content_hash, request_key, expected);
select * from finish();
rollback;
