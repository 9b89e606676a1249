-- req: SUBM-023, SUBM-024
begin;
select plan(18);
create temporary table target on commit drop as
select
    r.answer ->> 'target_file_id' as id,
    r.answer ->> 'current_hash' as hash
from (select patchdiff.initialize_target(filename => 'a', content => E'alpha beta\n') as answer) as r;
create function pg_temp.rejected(request jsonb, version bigint default 0) returns jsonb language sql as $$
    select patchdiff.reject_attempt(
        target_file_id => t.id, base_version => rejected.version, base_hash => f.current_hash,
        protocol_version => 'patchdiff-tx/1',
        pdcp_content => '{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"nowhere","replace":""}]}',
        request => rejected.request,
        failure => '{"failure_reason": "match_absent", "failure_detail": "d", "failed_change_id": "chg_001"}',
        diagnostic => '{"retryable": true, "validation_stage": "precondition_guard"}'
    )
    from target as t
    inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid
$$;
create function pg_temp.accepted(request jsonb, edit jsonb default '{"match":"alpha","replace":"gamma"}')
returns jsonb language sql as $$
    select patchdiff.accept_attempt(
        target_file_id => t.id, base_version => f.version, base_hash => f.current_hash,
        protocol_version => 'patchdiff-tx/1',
        pdcp_content => format('{"protocol":"patchdiff-tx/1","intent":"i","edits":[%s]}', accepted.edit),
        request => accepted.request, span_starts => '{0}', byte_starts => '{0}',
        after_hash => encode(sha256(convert_to(
            overlay(f.current_content placing accepted.edit ->> 'replace' from 1 for length(accepted.edit ->> 'match')),
            'UTF8'
        )), 'hex')
    )
    from target as t
    inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid
$$;
create temporary table original on commit drop as
select pg_temp.rejected('{"expected_target_version": 0, "client_request_id": "k"}') ->> 'pdcp_log_id' as id;
create function pg_temp.judged(request jsonb, proposal text default null, diverged boolean default false)
returns jsonb language sql as $$
    select patchdiff._judge_request(
        t.id::uuid, 5, repeat('a', 64), judged.diverged,
        patchdiff._request_envelope('patchdiff-tx/1', 'content', judged.request), judged.request,
        case when judged.proposal is not null then jsonb_build_object('failure_reason', judged.proposal) end
    ) from target as t
$$;
create function pg_temp.verdict(request jsonb, proposal text default null, diverged boolean default false)
returns text language sql as $$
    select coalesce(
        j.verdict -> 'failure' ->> 'code', j.verdict -> 'failure' ->> 'failure_reason', j.verdict ->> 'outcome'
    ) from pg_temp.judged(verdict.request, verdict.proposal, verdict.diverged) as j (verdict)
$$;
select is(pg_temp.verdict('{"expected_target_version": 5}'), null, 'a request that holds goes on');
select is(
    pg_temp.verdict('{"client_request_id": "", "attempt": 0}', 'target_encoding_invalid', true),
    'target_encoding_invalid',
    'invalid text comes first'
);
select is(
    pg_temp.verdict('{"client_request_id": "", "attempt": 0}', 'protocol_invalid', true),
    'invalid_client_request_id',
    'then the key''s syntax'
);
select is(
    pg_temp.verdict('{"client_request_id": "k", "attempt": 0}', 'protocol_invalid', true),
    'request_key_conflict',
    'then a key that names another request'
);
select is(
    pg_temp.judged('{"client_request_id": "k"}') -> 'failure' ->> 'existing_pdcp_log_id',
    (select id from original),
    'which the failure names'
);
select is(pg_temp.verdict('{"attempt": 0}', 'protocol_invalid', true), 'invalid_attempt', 'then lineage');
select is(pg_temp.verdict('{}', 'protocol_invalid', true), 'protocol_invalid', 'then the proposal''s shape');
select is(pg_temp.verdict('{}', null, true), 'guard_required', 'then the guards'' presence');
select is(
    pg_temp.verdict('{"expected_target_version": -1}', null, true),
    'invalid_expected_target_version',
    'then their syntax'
);
select is(pg_temp.verdict('{"expected_target_version": 4}', null, true), 'target_diverged', 'then divergence');
select is(pg_temp.verdict('{"expected_target_version": 4}'), 'target_version_mismatch', 'then stale guards');
select is(
    (
        select l.client_request_id from patchdiff.append_only_pdcp_logs as l, original as o
        where l.pdcp_log_id = o.id::uuid
    ),
    'k',
    'the first request bound its key'
);
select is(
    (
        select
            patchdiff._judge_request(
                t.id::uuid, 5, repeat('a', 64), true, l.request_envelope,
                '{"client_request_id": "k", "expected_target_version": 0, "attempt": 0}', null
            ) -> 'recorded' ->> 'pdcp_log_id'
        from target as t
        inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = t.id::uuid
    ),
    (select id from original),
    'the same request is recovered before anything else is judged'
);
-- receipts, and what comes before and after them
create temporary table observed on commit drop as
select
    patchdiff.initialize_target('b', 'text') ->> 'target_file_id' as id,
    '11111111-0000-4000-8000-000000000000'::uuid as receipt,
    '22222222-0000-4000-8000-000000000000'::uuid as another;
create function pg_temp.observed_verdict(version bigint, diverged boolean, observation jsonb, key text default null)
returns jsonb language sql as $$
    select patchdiff._judge_request(
        o.id::uuid, 5, repeat('a', 64), observed_verdict.diverged,
        patchdiff._request_envelope('patchdiff-tx/2', 'content', r.request), r.request, null
    )
    from observed as o
    cross join lateral (
        select jsonb_build_object(
            'expected_target_version', observed_verdict.version, 'expected_current_hash', repeat('a', 64),
            'observation', observation, 'client_request_id', key
        )
    ) as r (request)
$$;
select is(
    pg_temp.observed_verdict(4, true, '{"observation_id": null}') -> 'failure' ->> 'failure_reason', 'target_diverged',
    'divergence comes before receipts'
);
select is(
    pg_temp.observed_verdict(4, false, '{"observation_id": null}') -> 'failure' ->> 'code', 'OBSERVATION_REQUIRED',
    'and receipts before stale guards'
);
create temporary table rejected_observed on commit drop as
select patchdiff.reject_attempt(
    o.id, 0, t.current_hash, 'patchdiff-tx/2', '{"protocol":"patchdiff-tx/2","intent":"i","operations":[]}',
    jsonb_build_object(
        'expected_target_version', 0, 'expected_current_hash', t.current_hash, 'client_request_id', 'k',
        'observation', jsonb_build_object('observation_id', o.receipt)
    ),
    '{"failure_reason": "context_invalid", "code": "UNKNOWN_OBSERVATION_ID", "failure_detail": "d"}',
    '{"retryable": false, "validation_stage": "precondition_guard"}'
) as answer
from observed as o inner join patchdiff.cloud_target_files as t on t.target_file_id = o.id::uuid;
create function pg_temp.again(receipt uuid) returns jsonb language sql as $$
    select patchdiff._judge_request(
        l.target_file_id, 9, '', false, l.request_envelope,
        jsonb_build_object(
            'client_request_id', 'k', 'observation', jsonb_build_object('observation_id', again.receipt)
        ), null
    )
    from patchdiff.append_only_pdcp_logs as l inner join observed as o on l.target_file_id = o.id::uuid
$$;
select is(
    pg_temp.again(o.receipt) #>> '{recorded,pdcp_log_id}', r.answer ->> 'pdcp_log_id',
    'the same request with the same receipt is recovered'
) from observed as o, rejected_observed as r;
select is(
    pg_temp.again(o.another) -> 'failure' -> 'differing_components', '["observation_id"]'::jsonb,
    'with another receipt it is another request'
) from observed as o;
select is(pg_temp.again(null) -> 'failure' ->> 'code', 'request_key_conflict', 'with none too');
select * from finish();
rollback;
