-- req: SQL-020, SUBM-015
begin;
select plan(29);
select has_function('patchdiff', 'open_attempt', array['text', 'text', 'text', 'jsonb', 'jsonb']);
select volatility_is('patchdiff', 'open_attempt', array['text', 'text', 'text', 'jsonb', 'jsonb'], 'volatile');
select is_definer('patchdiff', 'open_attempt', array['text', 'text', 'text', 'jsonb', 'jsonb']);
select function_lang_is('patchdiff', 'open_attempt', array['text', 'text', 'text', 'jsonb', 'jsonb'], 'plpgsql');
select
    function_privs_are(
        'patchdiff',
        'open_attempt',
        array['text', 'text', 'text', 'jsonb', 'jsonb'],
        'patchdiff_editor',
        array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff',
        'open_attempt',
        array['text', 'text', 'text', 'jsonb', 'jsonb'],
        'patchdiff_reader',
        array[]::text[]
    );
select
    function_privs_are(
        'patchdiff', 'open_attempt', array['text', 'text', 'text', 'jsonb', 'jsonb'], 'public', array[]::text[]
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
create function pg_temp.opened(
    request jsonb, proposal_failure jsonb default null, target text default null, out outcome jsonb, out content text
) language sql as $$
    select o.outcome, o.current_content
    from target as t, patchdiff.open_attempt(
        target_file_id => coalesce(opened.target, t.id), protocol_version => 'patchdiff-tx/1',
        pdcp_content_hash => repeat('0', 64), request => opened.request, proposal_failure => opened.proposal_failure
    ) as o
$$;
create temporary table opening on commit drop as
select o.* from pg_temp.opened('{"expected_target_version": 0}') as o;
select is((select outcome ->> 'outcome' from opening), 'open', 'a request that holds is open');
select is((select content from opening), E'alpha beta\n', 'and gets the whole text');
select is(
    (select outcome -> 'target' from opening),
    (select jsonb_build_object('version', 0, 'current_hash', hash, 'code_points', 11) from target),
    'with its identity'
);
create temporary table refusal on commit drop as
select o.* from pg_temp.opened('{"expected_target_version": 4}') as o;
select is(
    (select outcome -> 'failure' ->> 'failure_reason' from refusal), 'target_version_mismatch', 'a stale guard'
);
select is((select content from refusal), E'alpha beta\n', 'a refusal shows the beginning of the text');
select is(
    (
        select o.outcome -> 'failure' ->> 'failure_reason'
        from pg_temp.opened('{}', '{"failure_reason": "protocol_invalid"}') as o
    ),
    'protocol_invalid',
    'what decoding found wrong is judged in its place'
);
select is(
    (select o.outcome ->> 'missing' from pg_temp.opened('{}', null, 'nonsense') as o),
    'invalid_target_id',
    'a malformed id'
);
select is(
    (select o.outcome ->> 'target' from pg_temp.opened('{}', null, gen_random_uuid()::text) as o),
    null,
    'an unknown target has no identity'
);
select is(
    (
        select count(*) from patchdiff.append_only_pdcp_logs as l, target as t
        where l.target_file_id = t.id::uuid
    ),
    0::bigint, 'nothing is written'
);
create temporary table made on commit drop as
select pg_temp.rejected('{"expected_target_version": 0, "client_request_id": "k"}') ->> 'pdcp_log_id' as id;
select is(
    (select o.outcome -> 'failure' ->> 'code' from pg_temp.opened('{"client_request_id": "k"}') as o),
    'request_key_conflict',
    'a used key with another request'
);
update patchdiff.cloud_target_files set current_content = repeat('x', 300)
where target_file_id = (select id::uuid from target);
create temporary table diverged on commit drop as
select o.* from pg_temp.opened('{"expected_target_version": 0}') as o;
select is(
    (select outcome -> 'failure' ->> 'failure_reason' from diverged), 'target_diverged', 'a text that lost its hash'
);
select is((select length(content) from diverged), 256, 'a refusal shows at most 256 code points');
update patchdiff.cloud_target_files set current_content = E'alpha beta\n'
where target_file_id = (select id::uuid from target);
create temporary table recovery on commit drop as
select o.outcome
from target as t, patchdiff.open_attempt(
    t.id, 'patchdiff-tx/1',
    encode(sha256(convert_to(
        '{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"nowhere","replace":""}]}', 'UTF8'
    )), 'hex'),
    '{"expected_target_version": 0, "client_request_id": "k"}', null
) as o;
select is((select outcome ->> 'outcome' from recovery), 'recovered', 'the same request under its key');
select is(
    (select outcome -> 'recorded' ->> 'pdcp_log_id' from recovery), (select id from made), 'is answered by its row'
);
select is(
    (select outcome -> 'recorded' ->> 'failure_reason' from recovery), 'match_absent', 'with its outcome'
);
select is(
    (
        select count(*) from patchdiff.append_only_pdcp_logs as l, target as t
        where l.target_file_id = t.id::uuid
    ),
    1::bigint, 'and no new row'
);
-- observed
create temporary table issued on commit drop as
select patchdiff.issue_observations(t.id, 0, t.hash, 'e@1', 'text', '[{"name": "beta", "kind": "k", "start": 6, "end": 10},
    {"name": "alpha", "kind": "k", "start": 0, "end": 5}]', true) as answer
from target as t;
create function pg_temp.opened_observed(observation jsonb, version bigint default 0, out outcome jsonb, out content text)
language sql as $$
    select o.outcome, o.current_content
    from target as t, patchdiff.open_attempt(
        t.id, 'patchdiff-tx/2', repeat('0', 64), jsonb_build_object(
            'expected_target_version', version, 'expected_current_hash', t.hash, 'client_request_id', 'observed',
            'observation', '{"engine": "e@1"}'::jsonb || observation
        ), null
    ) as o
$$;
create temporary table opening_observed on commit drop as
select o.*
from issued as i
cross join lateral pg_temp.opened_observed(jsonb_build_object(
    'observation_bundle_id', i.answer -> 'observation_bundle_id',
    'observation_ids', jsonb_build_array(
        i.answer #> '{observations,1,observation_id}', i.answer #> '{observations,0,observation_id}'
    )
)) as o;
select is((select outcome ->> 'outcome' from opening_observed), 'open', 'an observed request is open');
select is(
    (select jsonb_path_query_array(outcome, '$.receipts[*].symbol_name') from opening_observed), '["alpha", "beta"]'::jsonb,
    'with its receipts, in its order'
);
select is(
    (select outcome -> 'receipts' -> 0 from opening_observed),
    (select to_jsonb(o) from patchdiff.target_scope_observations as o where o.symbol_name = 'alpha' and o.target_file_id = t.id::uuid),
    'each of them whole'
) from target as t;
select is(
    (select outcome -> 'file' from opening_observed), '{"filename": "a", "target_type": "text/plain"}'::jsonb,
    'and what the text''s language shows in'
);
select is(
    (select o.outcome ? 'receipts' or o.outcome ? 'file' from pg_temp.opened_observed('{}') as o)::text, 'false',
    'a refusal shows none of it'
);
select is(
    (select o.outcome ? 'receipts' from pg_temp.opened('{"expected_target_version": 0}') as o)::text, 'false',
    'nor does a request that is not observed'
);
select * from finish();
rollback;
