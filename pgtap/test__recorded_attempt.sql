-- req: KEY-002, KEY-004
begin;
select plan(3);
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
create temporary table attempt on commit drop as
select pg_temp.rejected('{"expected_target_version": 0}') ->> 'pdcp_log_id' as rejected_id;
create temporary table accepted_attempt on commit drop as
select pg_temp.accepted('{"expected_target_version": 0}') as answer;
select is(
    (select patchdiff._recorded_attempt(t.id::uuid, a.rejected_id::uuid) from target as t, attempt as a),
    (select jsonb_build_object(
        'status', 'rejected', 'pdcp_log_id', a.rejected_id, 'before_hash', t.hash,
        'after_version', null, 'after_hash', null, 'failure_reason', 'match_absent', 'failure_detail', 'd',
        'failed_change_id', 'chg_001', 'diagnostic', '{"retryable": true, "validation_stage": "precondition_guard"}'::jsonb, 'changes', '[]'::jsonb,
        'observation', '{}'::jsonb
    ) from target as t, attempt as a),
    'a rejected attempt'
);
select is(
    (
        select patchdiff._recorded_attempt(t.id::uuid, (a.answer ->> 'pdcp_log_id')::uuid)
        from target as t, accepted_attempt as a
    ),
    (select jsonb_build_object(
        'status', 'accepted', 'pdcp_log_id', a.answer -> 'pdcp_log_id', 'before_hash', t.hash,
        'after_version', 1, 'after_hash', encode(sha256(convert_to(E'gamma beta\n', 'UTF8')), 'hex'),
        'failure_reason', null, 'failure_detail', null, 'failed_change_id', null, 'diagnostic', null,
        'changes', a.answer -> 'changes', 'observation', '{}'::jsonb
    ) from target as t, accepted_attempt as a),
    'an accepted attempt, with its facts'
);
select is(
    patchdiff._recorded_attempt(gen_random_uuid(), (select rejected_id::uuid from attempt)),
    null,
    'none of another target'
);
select * from finish();
rollback;
