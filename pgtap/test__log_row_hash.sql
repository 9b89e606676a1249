begin;
select plan(28);
create temporary table example on commit drop as
select r as log_row from jsonb_populate_record(null::patchdiff.append_only_pdcp_logs, '{
    "target_file_id": "00000000-0000-4000-8000-000000000001", "log_sequence": 3,
    "pdcp_log_id": "00000000-0000-4000-8000-000000000002", "status": "rejected",
    "protocol_version": "p", "before_version": 1, "before_hash": "b", "created_at": "2026-01-01T00:00:00Z",
    "previous_row_hash": "q", "request_fingerprint": "f", "pdcp_content_hash": "c"}') as r;
create function pg_temp.hash_with(changed jsonb) returns text language sql as $$
    select patchdiff._log_row_hash(jsonb_populate_record(e.log_row, changed), null) from example as e
$$;
select matches(pg_temp.hash_with('{}'), '^[0-9a-f]{64}$', 'is a SHA-256');
select
    isnt(
        pg_temp.hash_with(jsonb_build_object(c.name, c.value)), pg_temp.hash_with('{}'), 'depends on ' || c.name
    )
from (
    values
    ('target_file_id', '"00000000-0000-4000-8000-000000000009"'::jsonb), ('log_sequence', '4'),
    ('pdcp_log_id', '"00000000-0000-4000-8000-000000000009"'), ('status', '"accepted"'),
    ('protocol_version', '"x"'), ('runtime_version', '"x"'),
    ('editing_cycle_id', '"00000000-0000-4000-8000-000000000009"'), ('before_version', '2'),
    ('before_hash', '"x"'), ('after_version', '2'), ('after_hash', '"x"'), ('failure_reason', '"x"'),
    ('failure_detail', '"x"'), ('failed_change_id', '"x"'),
    ('parent_pdcp_log_id', '"00000000-0000-4000-8000-000000000009"'), ('regeneration_attempt', '2'),
    ('source', '"x"'), ('client_request_id', '"x"'), ('request_fingerprint', '"x"'),
    ('pdcp_content_hash', '"x"'), ('created_at', '"2026-01-01T00:00:00.000001Z"'), ('previous_row_hash', '"x"')
) as c (name, value);
select isnt(
    (select patchdiff._log_row_hash(e.log_row, '[]') from example as e), pg_temp.hash_with('{}'), 'depends on the facts'
);
create temporary table before_zone on commit drop as select pg_temp.hash_with('{}') as hash;
set local timezone = 'Asia/Tokyo';
select is(pg_temp.hash_with('{}'), (select hash from before_zone), 'does not depend on the session''s time zone');
-- SHA-256 of the JSON text with the null of an unobserved row left out, made by another program
select is(
    pg_temp.hash_with('{}'), '40c150f9f235bcc9c98e5be9bce8ebba7e529f11a008bc1855a090075cde9d9b',
    'a row without a receipt hashes as it did before there were receipts'
);
select is(
    pg_temp.hash_with('{"observation_id": "00000000-0000-4000-8000-000000000003"}'),
    '51719a37bfce705d030534d21e3b61a73f65a05a35e4981cac19aa9e9e0e5af7', 'a receipt comes last'
);
select isnt(
    pg_temp.hash_with('{"observation_id": "00000000-0000-4000-8000-000000000003"}'),
    pg_temp.hash_with('{"observation_id": "00000000-0000-4000-8000-000000000004"}'), 'depends on observation_id'
);
select * from finish();
rollback;
