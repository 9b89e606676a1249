-- req: SUBM-063, LINE-010, SUBM-017, LOG-030, LOG-031
begin;
select plan(13);
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
create function pg_temp.appended(request jsonb, intent text default null, head bigint default 0)
returns patchdiff.append_only_pdcp_logs language sql as $$
    select patchdiff._append_log_row(
        jsonb_populate_record(null::patchdiff.append_only_pdcp_logs, jsonb_build_object(
            'target_file_id', t.id, 'status', 'rejected', 'protocol_version', 'patchdiff-tx/1',
            'editing_cycle_id', f.active_editing_cycle_id, 'before_version', 0, 'before_hash', t.hash,
            'failure_reason', 'match_absent', 'request_envelope', 'envelope', 'pdcp_content', '{}',
            'pdcp_content_hash', 'h'
        )),
        appended.head, 'head', appended.request, appended.intent, null
    )
    from target as t
    inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid
$$;
create temporary table first_row on commit drop as
select r.* from pg_temp.appended('{"attempt": 3}') as r;
select isnt((select pdcp_log_id from first_row), null, 'draws an identity');
select is((select regeneration_attempt from first_row), 3::bigint, 'keeps the attempt number');
select is((select source from first_row), 'model_response', 'a source that was left out');
select is((select previous_row_hash from first_row), 'head', 'continues the chain');
select is(
    (select row_hash from first_row),
    (
        select patchdiff._log_row_hash(l, null) from patchdiff.append_only_pdcp_logs as l
        inner join first_row as r on l.pdcp_log_id = r.pdcp_log_id
    ),
    'the stored row has the hash it says'
);
select is(
    (select request_fingerprint from first_row),
    encode(sha256(convert_to('envelope', 'UTF8')), 'hex'),
    'the fingerprint is the envelope''s SHA-256'
);
select cmp_ok(
    (select log_sequence from pg_temp.appended('{}')), '>', (select log_sequence from first_row), 'numbers ascend'
);
select is(
    (select log_sequence from pg_temp.appended('{}', null, 9000000000)),
    9000000001,
    'also where the sequence has fallen behind the target'
);
select is((select source from pg_temp.appended('{"source": 5}')), null, 'a source that is no string');
select is((select length(intent) from pg_temp.appended('{}', repeat('😀', 256))), 256, 'an intent of 256');
select is((select intent_truncated from pg_temp.appended('{}', repeat('😀', 256))), false, 'is whole');
select is((select length(intent) from pg_temp.appended('{}', repeat('😀', 257))), 256, 'one of 257 is cut');
select is((select intent_truncated from pg_temp.appended('{}', repeat('😀', 257))), true, 'and marked');
select * from finish();
rollback;
