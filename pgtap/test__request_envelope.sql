-- req: KEY-031
begin;
select plan(4);
select is(
    patchdiff._request_envelope('patchdiff-tx/1', 'ab', '{"expected_target_version": 3}'),
    '{"protocol_version":"patchdiff-tx/1","pdcp_content_hash":"ab","expected_target_version":3,'
    || '"expected_current_hash":null,"parent_pdcp_log_id":null}',
    'has exactly five members in a fixed order, null where absent'
);
select is(
    patchdiff._request_envelope('p', 'h', '{"source": "s", "attempt": 2, "client_request_id": "k"}'),
    patchdiff._request_envelope('p', 'h', '{}'),
    'source, attempt and key do not enter'
);
select is(
    patchdiff._request_envelope('p', 'h', '{"expected_target_version": null}'),
    patchdiff._request_envelope('p', 'h', '{}'),
    'a null guard is an absent one'
);
select isnt(
    patchdiff._request_envelope('p', 'h', '{"expected_target_version": "3"}'),
    patchdiff._request_envelope('p', 'h', '{"expected_target_version": 3}'),
    'a string is not the number it looks like'
);
select * from finish();
rollback;
