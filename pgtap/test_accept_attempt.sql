-- req: TX1-044, TX1-045, TX1-046, SUBM-029, SUBM-060, SUBM-061, SQL-021
begin;
select plan(38);
select
    has_function(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb']
    );
select
    volatility_is(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb'],
        'volatile'
    );
select
    is_definer(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb']
    );
select
    function_lang_is(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb'],
        'plpgsql'
    );
select
    function_privs_are(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb'],
        'patchdiff_editor',
        array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb'],
        'patchdiff_reader',
        array[]::text[]
    );
select
    function_privs_are(
        'patchdiff',
        'accept_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'bigint[]', 'bigint[]', 'text', 'jsonb'],
        'public',
        array[]::text[]
    );
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
create function pg_temp.accept(
    span_starts bigint[] default '{6}', byte_starts bigint[] default '{6}', result text default E'alpha gamma\n',
    request jsonb default '{"expected_target_version": 0}', version bigint default 0, hash text default null,
    edits text default '{"match":"beta","replace":"gamma","rationale":"r","risk":"high"}', target text default null
) returns jsonb language sql as $$
    select patchdiff.accept_attempt(
        coalesce(accept.target, t.id), accept.version, coalesce(accept.hash, t.hash), 'patchdiff-tx/1',
        format('{"protocol":"patchdiff-tx/1","intent":"i","edits":[%s]}', accept.edits),
        accept.request, accept.span_starts, accept.byte_starts,
        encode(sha256(convert_to(accept.result, 'UTF8')), 'hex'), '{"warnings": [{"code": "c", "detail": "d"}], "warning_count": 1, "warnings_truncated": false}'
    ) from target as t
$$;
select is(pg_temp.accept('{5}', '{5}') ->> 'outcome', 'misfit', 'another text stands at the place');
select is(pg_temp.accept('{6}', '{7}') ->> 'outcome', 'misfit', 'bytes and code points disagree');
select is(pg_temp.accept(result => E'alpha delta\n') ->> 'outcome', 'misfit', 'another result was announced');
select is(pg_temp.accept(version => 1) ->> 'outcome', 'stale_base', 'another version');
select is(pg_temp.accept(hash => 'x') ->> 'outcome', 'stale_base', 'another hash');
select is(pg_temp.accept(result => null) ->> 'outcome', 'misfit', 'no result was announced');
select is(pg_temp.accept(version => null) ->> 'outcome', 'stale_base', 'no version');
select is(
    (
        select
            patchdiff.accept_attempt(
                t.id, 0, t.hash, 'patchdiff-tx/2',
                format(
                    '{"protocol":"patchdiff-tx/2","intent":"i","operations":[{"op":"span","replace":"gamma",%s}]}', o.members
                ),
                '{"expected_target_version": 0}', '{6}', '{6}', patchdiff._sha256_hex(E'alpha gamma\n')
            ) ->> 'outcome'
        from target as t
    ),
    'misfit',
    o.problem
)
from (values
    ('"start":0,"end":4,"expected_text":"beta"', 'a span that is not where its record puts it'),
    ('"start":6,"end":9,"expected_text":"beta"', 'an end that is not that of the expected text'),
    ('"start":6,"end":10,"expected_text":"beta","expected_before":"x"', 'another text before'),
    ('"start":6,"end":10,"expected_text":"beta","expected_before":"1234567"', 'more before than there is'),
    ('"start":6,"end":10,"expected_text":"beta","expected_after":" "', 'another text after'),
    ('"start":6,"end":10,"expected_text":"beta","expected_after":"\n\n"', 'more after than there is')
) as o (members, problem);
select throws_ok($$ select pg_temp.accept('{9223372036854775807}', '{6}') $$, 'PD021', null, 'a place beyond any text');
select is(pg_temp.accept(target => gen_random_uuid()::text) ->> 'outcome', 'no_target', 'no such target');
select is(pg_temp.accept(request => '{}') -> 'failure' ->> 'code', 'guard_required', 'a request that is refused');
select throws_ok($$ select pg_temp.accept('{6,6}', '{6,6}') $$, 'PD021', null, 'one place too many');
select throws_ok($$ select pg_temp.accept('{}', '{}') $$, 'PD021', null, 'none');
select throws_ok($$ select pg_temp.accept('{null}', '{6}') $$, 'PD021', null, 'a null');
select throws_ok($$ select pg_temp.accept(edits => '{"match":"beta"}') $$, 'PD020', null, 'an edit without replace');
select throws_ok($$ select pg_temp.accept(edits => '') $$, 'PD020', null, 'no edits');
select throws_ok($$ select pg_temp.accept(edits => 'x') $$, 'PD020', null, 'no record');
select is(
    (
        select (count(*), max(f.version), max(f.current_content))::text
        from target as t
        inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid
        left join patchdiff.append_only_pdcp_logs as l on f.target_file_id = l.target_file_id
        left join patchdiff.manifest_ledger as m on f.target_file_id = m.target_file_id
        where l.log_sequence is null and m.ledger_sequence is null
    ),
    E'(1,0,"alpha beta\n")',
    'none of these wrote anything'
);
create temporary table recorded on commit drop as
select pg_temp.accept(request => '{"expected_target_version": 0, "client_request_id": "k"}') as answer;
select is((select answer ->> 'outcome' from recorded), 'accepted', 'what fits is accepted');
select is((select answer ->> 'after_version' from recorded), '1', 'as the next version');
select results_eq(
    $$ select f.current_content collate "default", f.version, f.current_hash, f.content_code_points
    from patchdiff.cloud_target_files as f, target as t where f.target_file_id = t.id::uuid $$,
    $$ values (E'alpha gamma\n', 1::bigint, encode(sha256(convert_to(E'alpha gamma\n', 'UTF8')), 'hex'), 12::bigint) $$,
    'the text is the spliced one, with its hash and length'
);
select results_eq(
    $$ select l.status, l.before_version, l.after_version, l.runtime_version, l.client_request_id, l.intent,
        l.diagnostic_json ->> 'warnings', l.failure_reason
    from patchdiff.append_only_pdcp_logs as l, recorded as r where l.pdcp_log_id = (r.answer ->> 'pdcp_log_id')::uuid $$,
    $$ values ('accepted', 0::bigint, 1::bigint, 'patchdiff-mvp-0.2.2', 'k', 'i', '[{"code": "c", "detail": "d"}]', null::text) $$,
    'one log row'
);
select results_eq(
    $$ select m.change_index, m.change_id, m.intent, m.transaction_intent, m.rationale, m.risk, m.origin,
        jsonb_build_array(m.derived) = r.answer -> 'changes'
    from patchdiff.manifest_ledger as m, recorded as r where m.pdcp_log_id = (r.answer ->> 'pdcp_log_id')::uuid $$,
    $$ values (1::bigint, 'chg_001', 'r', 'i', 'r', 'high', 'typed', true) $$,
    'one ledger row a change'
);
select is(
    pg_temp.accept(request => '{"expected_target_version": 0, "client_request_id": "k"}') ->> 'outcome',
    'stale_base',
    'the same again names a base that is gone'
);
select is(
    (
        select
            patchdiff.accept_attempt(
                t.id,
                1,
                f.current_hash,
                'patchdiff-tx/1',
                l.pdcp_content,
                '{"expected_target_version": 0, "client_request_id": "k"}',
                '{6}', '{6}', 'x'
            ) ->> 'outcome'
        from target as t
        inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid
        inner join patchdiff.append_only_pdcp_logs as l on f.target_file_id = l.target_file_id
    ),
    'recovered',
    'and on the new base it is recovered'
);
select is(
    (
        select f.log_head_hash from patchdiff.cloud_target_files as f, target as t
        where f.target_file_id = t.id::uuid
    ),
    (
        select patchdiff._log_row_hash(l, r.answer -> 'changes')
        from patchdiff.append_only_pdcp_logs as l, recorded as r
        where l.pdcp_log_id = (r.answer ->> 'pdcp_log_id')::uuid
    ),
    'the chain''s head covers the row and its facts'
);
select * from finish();
rollback;
