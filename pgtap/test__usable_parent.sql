-- req: LINE-001, LINE-002, LINE-003, LINE-004, LINE-005
begin;
select plan(6);
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
create temporary table parent on commit drop as
select pg_temp.rejected('{"expected_target_version": 0}') ->> 'pdcp_log_id' as id;
create temporary table accepted_one on commit drop as
select pg_temp.accepted('{"expected_target_version": 0}') ->> 'pdcp_log_id' as id;
create function pg_temp.parent_of(parent text, target text default null) returns uuid language sql as $$
    select patchdiff._usable_parent(
        coalesce(parent_of.target, t.id)::uuid, jsonb_build_object('parent_pdcp_log_id', parent_of.parent)
    ) from target as t
$$;
select is(pg_temp.parent_of((select id from parent)), (select id::uuid from parent), 'a rejected attempt');
select is(pg_temp.parent_of((select id from accepted_one)), null, 'an accepted attempt');
select is(pg_temp.parent_of(gen_random_uuid()::text), null, 'an unknown attempt');
select is(pg_temp.parent_of((select upper(id) from parent)), null, 'an id that is not in canonical form');
select is(
    pg_temp.parent_of((select id from parent), gen_random_uuid()::text), null, 'an attempt of another target'
);
select is(pg_temp.parent_of(null), null, 'none');
select * from finish();
rollback;
