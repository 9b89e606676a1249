-- req: KEY-014, KEY-015, KEY-016
begin;
select plan(5);
create function pg_temp.differing(request jsonb, protocol text default 'p', content text default 'c')
returns jsonb language sql as $$
    select patchdiff._key_conflict(
        null,
        patchdiff._request_envelope('p', 'c', '{}'),
        patchdiff._request_envelope(protocol, content, request),
        jsonb_build_object('client_request_id', repeat('k', 128))
    ) -> 'differing_components'
$$;
select is(
    pg_temp.differing('{"expected_target_version": 1}'),
    '["expected_target_version"]'::jsonb,
    'a changed guard alone'
);
select is(
    pg_temp.differing('{"parent_pdcp_log_id": "x"}'), '["parent_pdcp_log_id"]'::jsonb, 'a changed parent alone'
);
select is(
    pg_temp.differing(
        '{"expected_current_hash": "x", "expected_target_version": 1, "parent_pdcp_log_id": "y"}', 'q', 'd'
    ),
    '["protocol_version", "pdcp_content_hash", "expected_target_version", "expected_current_hash",
      "parent_pdcp_log_id"]'::jsonb,
    'all five, in the order of the envelope'
);
select is(
    length(
        patchdiff._key_conflict(null, '{}', '{}', jsonb_build_object('client_request_id', repeat('k', 128)))
        ->> 'submitted_key_preview'
    ),
    64,
    'the key is shown up to 64 characters'
);
select is(pg_temp.differing('{}'), '["observation_id"]', 'all the same: then the receipt is another');
select * from finish();
rollback;
