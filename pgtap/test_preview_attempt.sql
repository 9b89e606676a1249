-- req: PREV-005, PREV-008, PREV-021
begin;
select plan(27);
select has_function('patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb']);
select volatility_is('patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb'], 'stable');
select is_definer('patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb']);
select function_lang_is('patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb'], 'plpgsql');
select
    function_privs_are(
        'patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb'], 'patchdiff_editor', array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb'], 'patchdiff_reader', array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff', 'preview_attempt', array['text', 'jsonb', 'jsonb'], 'public', array[]::text[]
    );
create temporary table target on commit drop as
select
    r.answer ->> 'target_file_id' as id,
    r.answer ->> 'current_hash' as hash
from (select patchdiff.initialize_target(filename => 'a', content => E'alpha beta\n') as answer) as r;
create function pg_temp.previewed(
    request jsonb, proposal_failure jsonb default null, target text default null, out outcome jsonb, out content text
) language sql as $$
    select p.outcome, p.current_content
    from target as t, patchdiff.preview_attempt(
        target_file_id => coalesce(previewed.target, t.id),
        request => previewed.request, proposal_failure => previewed.proposal_failure
    ) as p
$$;
create function pg_temp.opened(request jsonb, proposal_failure jsonb, target text, out outcome jsonb, out content text)
language sql as $$
    select o.outcome, o.current_content
    from target as t, patchdiff.open_attempt(
        target_file_id => coalesce(opened.target, t.id), protocol_version => 'patchdiff-tx/1',
        pdcp_content_hash => repeat('0', 64), request => opened.request || '{"source": "model_response"}',
        proposal_failure => opened.proposal_failure
    ) as o
$$;

create temporary table preview on commit drop as
select p.* from pg_temp.previewed('{"expected_target_version": 0}') as p;
select is((select outcome ->> 'outcome' from preview), 'open', 'a request that holds is open');
select is((select content from preview), E'alpha beta\n', 'and gets the whole text');
select is(
    (select outcome -> 'target' from preview),
    (select jsonb_build_object('version', 0, 'current_hash', hash, 'code_points', 11) from target),
    'with its identity'
);

-- the verdict of every request that a submission can make, with neither key nor lineage
create temporary table cases (request jsonb, proposal_failure jsonb, target text, reason text, code text);
insert into cases
values
('{"expected_target_version": 0}', null, null, null, null),
('{}', null, null, 'context_invalid', 'guard_required'),
('{"expected_target_version": null, "expected_current_hash": null}', null, null, 'context_invalid', 'guard_required'),
('{"expected_target_version": "0"}', null, null, 'context_invalid', 'invalid_expected_target_version'),
('{"expected_current_hash": "A"}', null, null, 'context_invalid', 'invalid_expected_current_hash'),
('{"expected_target_version": 1}', null, null, 'target_version_mismatch', null),
(jsonb_build_object('expected_current_hash', repeat('0', 64)), null, null, 'target_hash_mismatch', null),
('{}', '{"failure_reason": "protocol_invalid", "failure_detail": "d"}', null, 'protocol_invalid', null),
(
    '{"expected_target_version": 0}', '{"failure_reason": "target_encoding_invalid", "failure_detail": "d"}', 'x',
    'target_encoding_invalid', null
),
('{"expected_target_version": 0}', null, 'nonsense', 'invalid_target_id', null),
('{"expected_target_version": 0}', null, '00000000-0000-4000-8000-000000000000', 'target_not_found', null),
('{}', null, '00000000-0000-4000-8000-000000000000', 'target_not_found', null);
select results_eq(
    $$select p.outcome -> 'failure' ->> 'failure_reason', p.outcome -> 'failure' ->> 'code'
      from cases as c cross join lateral pg_temp.previewed(c.request, c.proposal_failure, c.target) as p
      order by c::text$$,
    'select c.reason, c.code from cases as c order by c::text',
    'each request has its reason and code'
);
select is_empty(
    $$select c.*
      from cases as c
      cross join lateral pg_temp.previewed(c.request, c.proposal_failure, c.target) as p
      cross join lateral pg_temp.opened(c.request, c.proposal_failure, c.target) as o
      where (p.outcome, p.content) is distinct from (o.outcome, o.content)$$,
    'and the whole verdict of a submission'
);
select is(
    (select p.outcome ->> 'missing' from pg_temp.previewed('{}', null, 'nonsense') as p),
    'invalid_target_id',
    'a malformed id is named so'
);
select is(
    (select p.outcome -> 'target' from pg_temp.previewed('{}', null, gen_random_uuid()::text) as p),
    'null'::jsonb,
    'an unknown target has no identity'
);
select is(
    (select p.content from pg_temp.previewed('{}', null, gen_random_uuid()::text) as p),
    null,
    'and no text'
);
select is(
    (
        select p.outcome from target as t, patchdiff.preview_attempt(
            target_file_id => t.id, request => null
        ) as p
    ) -> 'failure' ->> 'code',
    'guard_required',
    'a request that is missing has no guard'
);
select is(
    (
        select p.outcome from patchdiff.preview_attempt(
            target_file_id => null, request => '{"expected_target_version": 0}'
        ) as p
    ) ->> 'missing',
    'invalid_target_id',
    'a missing id is malformed'
);

-- a recorded request is judged anew, and neither its key nor its lineage counts
create temporary table made on commit drop as
select
    patchdiff.reject_attempt(
        target_file_id => t.id, base_version => 0, base_hash => t.hash, protocol_version => 'patchdiff-tx/1',
        pdcp_content => '{"protocol":"patchdiff-tx/1","intent":"i","edits":[{"match":"nowhere","replace":""}]}',
        request => '{"expected_target_version": 0, "client_request_id": "k", "source": "s"}',
        failure => '{"failure_reason": "match_absent", "failure_detail": "d", "failed_change_id": "chg_001"}',
        diagnostic => '{"retryable": true, "validation_stage": "precondition_guard"}'
    ) ->> 'outcome' as outcome
from target as t;
select is((select outcome from made), 'rejected', 'a key is used');
select is(
    (
        select p.outcome ->> 'outcome'
        from pg_temp.previewed('{"expected_target_version": 0, "client_request_id": "k"}') as p
    ),
    'open',
    'a used key does not matter'
);
select is(
    (
        select p.outcome ->> 'outcome'
        from pg_temp.previewed(
            '{"expected_target_version": 0, "client_request_id": "", "parent_pdcp_log_id": 1, "attempt": 0, "source": 7}'
        ) as p
    ),
    'open',
    'nor do a malformed key, parent, attempt and source'
);
select is(
    (
        select count(*) from patchdiff.append_only_pdcp_logs as l, target as t
        where l.target_file_id = t.id::uuid
    ),
    1::bigint,
    'nothing is written'
);

-- a refusal shows the beginning of the text, an open one all of it
update patchdiff.cloud_target_files set current_content = repeat(U&'\+01F600', 300)
where target_file_id = (select id::uuid from target);
create temporary table diverged on commit drop as
select p.* from pg_temp.previewed('{"expected_target_version": 0}') as p;
select is(
    (select outcome -> 'failure' ->> 'failure_reason' from diverged), 'target_diverged', 'a text that lost its hash'
);
select is((select content from diverged), repeat(U&'\+01F600', 256), 'a refusal shows 256 code points');
select is(
    (select (outcome -> 'target' ->> 'code_points')::int from diverged), 300, 'and says how many there are'
);
update patchdiff.cloud_target_files
set current_hash = encode(sha256(convert_to(current_content, 'UTF8')), 'hex')
where target_file_id = (select id::uuid from target);
select is(
    (select length(p.content) from pg_temp.previewed('{"expected_target_version": 0}') as p),
    300,
    'an open preview gets all of it'
);
select is(
    (select p.outcome ->> 'outcome' from pg_temp.previewed('{"expected_target_version": 0}', null, null) as p),
    'open',
    'an explicit null failure is none'
);

-- the reader's own right is enough
grant select on target to patchdiff_reader;
set local role patchdiff_reader;
do $$
begin
    perform set_config('patchdiff_test.outcome', p.outcome ->> 'outcome', true)
    from target as t, patchdiff.preview_attempt(
        target_file_id => t.id, request => '{"expected_target_version": 0}'
    ) as p;
end
$$;
reset role;
select is(current_setting('patchdiff_test.outcome'), 'open', 'a reader may preview');
select * from finish();
rollback;
