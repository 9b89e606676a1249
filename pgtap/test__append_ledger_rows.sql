-- req: LEDG-021, LEDG-022, LEDG-024, LEDG-033
begin;
select plan(1);
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
select pg_temp.rejected('{"expected_target_version": 0}') ->> 'pdcp_log_id' as id;
select
    patchdiff._append_ledger_rows(
        jsonb_populate_record(l, '{"after_version": 2}'),
        '[{"change_id": "one", "n": 1}, {"change_id": "two", "n": 2}]',
        array['low', null], 'whole', array[null, 'own']
    )
from patchdiff.append_only_pdcp_logs as l, attempt as a
where l.pdcp_log_id = a.id::uuid;
select results_eq(
    $$ select m.change_index, m.change_id, m.intent, m.transaction_intent, m.rationale, m.risk, m.origin,
        m.derived ->> 'n', m.log_sequence = l.log_sequence, m.before_version, m.after_version
    from patchdiff.manifest_ledger as m
    inner join attempt as a on m.pdcp_log_id = a.id::uuid
    inner join patchdiff.append_only_pdcp_logs as l on l.pdcp_log_id = m.pdcp_log_id
    order by m.ledger_sequence $$,
    $$ values
        (1::bigint, 'one', 'whole', 'whole', null, 'low', 'typed', '1', true, 0::bigint, 2::bigint),
        (2, 'two', 'own', 'whole', 'own', null, 'typed', '2', true, 0, 2) $$,
    'one row a fact, in order: the intent is the rationale where there is one'
);
select * from finish();
rollback;
