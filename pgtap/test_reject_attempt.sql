-- req: SUBM-020, SUBM-021, SQL-021, SUBM-061
begin;
select plan(25);
select
    has_function(
        'patchdiff', 'reject_attempt', array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb']
    );
select
    volatility_is(
        'patchdiff',
        'reject_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb'],
        'volatile'
    );
select
    is_definer(
        'patchdiff', 'reject_attempt', array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb']
    );
select
    function_lang_is(
        'patchdiff',
        'reject_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb'],
        'plpgsql'
    );
select
    function_privs_are(
        'patchdiff',
        'reject_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb'],
        'patchdiff_editor',
        array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff',
        'reject_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb'],
        'patchdiff_reader',
        array[]::text[]
    );
select
    function_privs_are(
        'patchdiff',
        'reject_attempt',
        array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'jsonb', 'jsonb'],
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
create function pg_temp.rows_of_target() returns bigint language sql as $$
    select count(*) from patchdiff.append_only_pdcp_logs as l, target as t where l.target_file_id = t.id::uuid
$$;
create function pg_temp.reject(
    failure jsonb, request jsonb default '{"expected_target_version": 0}', version bigint default 0,
    hash text default null, target text default null, content text default '{"protocol":"patchdiff-tx/1","intent":"i"}',
    protocol text default 'patchdiff-tx/1'
) returns jsonb language sql as $$
    select patchdiff.reject_attempt(
        coalesce(reject.target, t.id), reject.version, coalesce(reject.hash, t.hash), reject.protocol,
        reject.content, reject.request, reject.failure || '{"failure_detail": "d"}', '{"retryable": true, "validation_stage": "precondition_guard"}'
    ) from target as t
$$;
create temporary table before_it on commit drop as
select
    f.version,
    f.current_hash,
    f.current_content
from patchdiff.cloud_target_files as f, target as t
where f.target_file_id = t.id::uuid;
create temporary table recorded on commit drop as
select pg_temp.reject(
    '{"failure_reason": "match_absent", "failed_change_id": "c"}',
    '{"expected_target_version": 0, "client_request_id": "k", "source": "s", "attempt": 2}'
) as answer;
select is((select answer ->> 'outcome' from recorded), 'rejected', 'a failure of application is recorded');
select results_eq(
    $$ select l.status, l.protocol_version, l.runtime_version, l.before_version, l.before_hash, l.after_version,
        l.after_hash, l.failure_reason, l.failure_detail, l.failed_change_id, l.client_request_id, l.source,
        l.regeneration_attempt, l.intent, l.diagnostic_json ->> 'retryable'
    from patchdiff.append_only_pdcp_logs as l, recorded as r where l.pdcp_log_id = (r.answer ->> 'pdcp_log_id')::uuid $$,
    $$ select 'rejected', 'patchdiff-tx/1', 'patchdiff-mvp-0.2.2', 0::bigint, t.hash, null::bigint, null::text,
        'match_absent', 'd', 'c', 'k', 's', 2::bigint, 'i', 'true' from target as t $$,
    'with everything that was given'
);
select results_eq(
    $$ select f.version, f.current_hash, f.current_content
    from patchdiff.cloud_target_files as f, target as t where f.target_file_id = t.id::uuid $$,
    'select * from before_it',
    'text, hash and version stay'
);
select is(
    (
        select f.log_head_hash from patchdiff.cloud_target_files as f, target as t
        where f.target_file_id = t.id::uuid
    ),
    (
        select l.row_hash from patchdiff.append_only_pdcp_logs as l, recorded as r
        where l.pdcp_log_id = (r.answer ->> 'pdcp_log_id')::uuid
    ),
    'the chain''s head moves'
);
select is(
    pg_temp.reject('{"failure_reason": "match_absent"}', version => 1) ->> 'outcome', 'stale_base',
    'another version'
);
select is(
    pg_temp.reject('{"failure_reason": "match_absent"}', hash => 'x') ->> 'outcome', 'stale_base',
    'another hash'
);
select is(
    pg_temp.reject('{"failure_reason": "match_absent"}', target => gen_random_uuid()::text) ->> 'outcome',
    'no_target', 'no such target'
);
select is(
    pg_temp.reject('{"failure_reason": "target_version_mismatch"}') ->> 'outcome', 'unfounded',
    'a refusal that is none'
);
select is(
    pg_temp.reject('{"failure_reason": "match_absent"}', '{}') -> 'failure' ->> 'code', 'guard_required',
    'a request that deserves another refusal'
);
select is(
    pg_temp.reject('{"failure_reason": "match_absent"}', '{"expected_target_version": 0, "client_request_id": "k"}')
    ->> 'outcome',
    'recovered',
    'the same request again'
);
select is(pg_temp.rows_of_target(), 1::bigint, 'none of these wrote a row');
select is(
    pg_temp.reject('{"failure_reason": "context_invalid", "code": "guard_required"}', '{}') ->> 'outcome',
    'rejected', 'a refusal is recorded as itself'
);
create temporary table conflict on commit drop as
select pg_temp.reject(
    '{"failure_reason": "context_invalid", "code": "request_key_conflict"}',
    '{"client_request_id": "k"}', content => '{"intent":"another"}'
) as answer;
select is(
    (
        select l.client_request_id from patchdiff.append_only_pdcp_logs as l, conflict as c
        where l.pdcp_log_id = (c.answer ->> 'pdcp_log_id')::uuid
    ),
    null,
    'a key conflict does not bind its key'
);
create temporary table encoding on commit drop as
select pg_temp.reject(
    '{"failure_reason": "target_encoding_invalid"}',
    '{"expected_target_version": 0, "client_request_id": "n"}',
    protocol => 'patchdiff-invalid-input/1'
) as answer;
select is(
    (
        select l.client_request_id from patchdiff.append_only_pdcp_logs as l, encoding as c
        where l.pdcp_log_id = (c.answer ->> 'pdcp_log_id')::uuid
    ),
    null,
    'nor does invalid text'
);
select is(
    pg_temp.reject('{"failure_reason": "target_encoding_invalid"}') ->> 'outcome',
    'unfounded',
    'evidence of invalid text has a protocol of its own'
);
select is(
    pg_temp.reject('{"failure_reason": "protocol_invalid"}', content => repeat('[', 100000)) ->> 'outcome',
    'rejected', 'a record nested 100,000 deep is recorded'
);
select is(pg_temp.rows_of_target(), 5::bigint, 'one row each');
update patchdiff.cloud_target_files set current_content = 'x'
where target_file_id = (select id::uuid from target);
select is(
    pg_temp.reject('{"failure_reason": "match_absent"}') -> 'failure' ->> 'failure_reason', 'target_diverged',
    'a text that lost its hash is never judged by its words'
);
select * from finish();
rollback;
