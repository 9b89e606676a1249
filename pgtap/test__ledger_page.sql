-- req: LEDG-003
begin;
select plan(8);
select has_function('patchdiff', '_ledger_page', array['uuid', 'bigint', 'bigint', 'uuid'], 'signature');

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
from made cross join generate_series(1, 3) as s;
insert into patchdiff.editing_cycles (target_file_id, editing_cycle_id, opened_version, closed_at, closed_version)
values (pg_temp.id(), 'cccccccc-0000-4000-8000-000000000000', 0, now(), 0);
insert into patchdiff.manifest_ledger (
    target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version, after_version,
    change_index, change_id, origin, derived, created_at
)
select
    l.target_file_id, s, l.pdcp_log_id, l.log_sequence,
    case when s < 4 then 'cccccccc-0000-4000-8000-000000000000' else l.editing_cycle_id end, 0, 1, s,
    'chg_00' || s, 'typed', '{"span_start": 3}', '2026-10-22 23:28:20+00'
from patchdiff.append_only_pdcp_logs as l cross join generate_series(1, 5) as s
where l.target_file_id = pg_temp.id() and l.log_sequence = 1;

select is(
    patchdiff._ledger_page(pg_temp.id(), g.entries, g.before_sequence, g.editing_cycle_id::uuid),
    g.expected::bigint[], g.what
)
from (
    values
    ('all, newest first', 99, null, null, '{5,4,3,2,1}'),
    ('at most so many below a bound', 2, 4, null, '{3,2}'),
    ('nothing below', 2, 1, null, '{}'),
    ('a closed cycle', 2, null, 'cccccccc-0000-4000-8000-000000000000', '{3,2}'),
    ('a closed cycle below a bound', 99, 3, 'cccccccc-0000-4000-8000-000000000000', '{2,1}'),
    ('an unknown cycle', 99, null, '00000000-0000-4000-8000-000000000000', '{}')
) as g (what, entries, before_sequence, editing_cycle_id, expected);
select is(
    patchdiff._ledger_page('00000000-0000-4000-8000-000000000000', 9, null, null), '{}', 'another target'
);
select * from finish();
rollback;
