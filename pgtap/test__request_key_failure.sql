-- req: KEY-021, KEY-022, KEY-024
begin;
select plan(15);
select is(patchdiff._request_key_failure('{}'), null, 'no key is fine');
select is(patchdiff._request_key_failure('{"client_request_id": null}'), null, 'a null key is no key');
select is(patchdiff._request_key_failure('{"client_request_id": " "}'), null, 'one space is a key');
select is(
    patchdiff._request_key_failure(jsonb_build_object('client_request_id', repeat('~', 128))),
    null,
    '128 printable characters are a key'
);
select is(
    patchdiff._request_key_failure(jsonb_build_object('client_request_id', repeat('~', 129))) ->> 'code',
    'invalid_client_request_id',
    '129 are none'
);
select is(
    patchdiff._request_key_failure('{"client_request_id": ""}') ->> 'code',
    'invalid_client_request_id',
    'an empty string is none'
);
select is(
    patchdiff._request_key_failure(jsonb_build_object('client_request_id', E'k\n')) ->> 'code',
    'invalid_client_request_id',
    'a trailing line feed makes it none'
);
select is(
    patchdiff._request_key_failure(jsonb_build_object('client_request_id', chr(127))) ->> 'code',
    'invalid_client_request_id',
    'DEL is not printable'
);
select is(
    patchdiff._request_key_failure('{"client_request_id": "é"}') ->> 'code',
    'invalid_client_request_id',
    'a letter beyond ASCII makes it none'
);
select is(
    patchdiff._request_key_failure('{"client_request_id": 7}') ->> 'failure_reason',
    'context_invalid',
    'a number is none'
);
select is(
    patchdiff._request_key_failure(b.request::jsonb || '{"observation": {"observation_ids": []}}') ->> 'code',
    b.expected, 'a batch with ' || b.request
)
from (
    values
    ('{}', 'client_request_id_required'), ('{"client_request_id": null}', 'client_request_id_required'),
    ('{"client_request_id": ""}', 'invalid_client_request_id'), ('{"client_request_id": "k"}', null)
) as b (request, expected);
select is(
    patchdiff._request_key_failure('{"observation": {"observation_id": null}}'), null, 'single form needs no key'
);
select * from finish();
rollback;
