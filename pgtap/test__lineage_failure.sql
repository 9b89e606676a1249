-- req: LINE-003, LINE-006, LINE-007, SUBM-016
begin;
select plan(9);
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
create function pg_temp.code_of(request jsonb) returns text language sql as $$
    select patchdiff._lineage_failure(t.id::uuid, code_of.request) ->> 'code' from target as t
$$;
select is(pg_temp.code_of('{}'), null, 'nothing given');
select is(
    pg_temp.code_of('{"parent_pdcp_log_id": null, "attempt": null, "source": "s"}'), null, 'nulls are nothing given'
);
select is(
    pg_temp.code_of((select jsonb_build_object('parent_pdcp_log_id', id, 'attempt', 2) from parent)),
    null,
    'a rejected parent and an attempt number'
);
select is(pg_temp.code_of('{"attempt": 1}'), null, 'an attempt number without a parent');
select is(pg_temp.code_of('{"attempt": 0}'), 'invalid_attempt', 'attempt 0');
select is(
    pg_temp.code_of('{"parent_pdcp_log_id": "00000000-0000-4000-8000-000000000000"}'),
    'invalid_parent',
    'an unknown parent'
);
select is(pg_temp.code_of('{"parent_pdcp_log_id": 5}'), 'invalid_parent', 'a parent that is no string');
select is(pg_temp.code_of('{"source": null}'), 'invalid_source', 'a null source');
select is(pg_temp.code_of('{"source": 5}'), 'invalid_source', 'a source that is no string');
select * from finish();
rollback;
