-- req: SQL-012, TX3-002, TX3-003, TX3-004, TX3-005, TX3-006, TX3-007, TX3-008, TX3-009, TX3-017, TX3-020, TX3-021
-- req: TX3-022
begin;
select plan(39);
select
    has_function(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text']
    );
select
    volatility_is(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'volatile'
    );
select
    is_definer(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text']
    );
select
    function_lang_is(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'plpgsql'
    );
select
    function_privs_are(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'patchdiff_editor',
        array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'patchdiff_reader',
        array[]::text[]
    );
select
    function_privs_are(
        'patchdiff',
        'submit_replacement',
        array['text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'public',
        array[]::text[]
    );
create temporary table target on commit drop as
select
    r.answer ->> 'target_file_id' as id,
    r.answer ->> 'current_hash' as hash
from (select patchdiff.initialize_target(filename => 'a', content => E'alpha \u4E2Dbeta\n') as answer) as r;
create function pg_temp.hash(content text) returns text language sql as $$
    select encode(sha256(convert_to(content, 'UTF8')), 'hex')
$$;
create function pg_temp.rows_of_target() returns bigint language sql as $$
    select count(*) from patchdiff.append_only_pdcp_logs as l, target as t where l.target_file_id = t.id::uuid
$$;
create function pg_temp.state() returns text language sql as $$
    select (f.version, f.current_hash, f.current_content, (
        select count(*) from patchdiff.manifest_ledger as m where m.target_file_id = f.target_file_id
    ))::text
    from patchdiff.cloud_target_files as f
    inner join target as t on f.target_file_id = t.id::uuid
$$;
create function pg_temp.row_of(answer jsonb) returns patchdiff.append_only_pdcp_logs language sql as $$
    select l from patchdiff.append_only_pdcp_logs as l, target as t
    where l.target_file_id = t.id::uuid and l.pdcp_log_id = (answer ->> 'pdcp_log_id')::uuid
$$;
create function pg_temp.submit(
    replacement text, version bigint default null, hash text default null, key text default null,
    parent text default null, attempt bigint default null, source text default 'model_response',
    target text default null, intent text default 'i'
) returns jsonb language sql as $$
    select patchdiff.submit_replacement(
        target_file_id => coalesce(submit.target, t.id), intent => submit.intent, replacement => submit.replacement,
        expected_target_version => submit.version, expected_current_hash => submit.hash,
        client_request_id => submit.key, parent_pdcp_log_id => submit.parent, attempt => submit.attempt,
        source => submit.source
    )
    from target as t
$$;
create function pg_temp.refused(answer jsonb) returns text language sql as $$
    select concat_ws(
        ' ', answer ->> 'status', answer ->> 'failure_reason', answer -> 'diagnostic' ->> 'code',
        answer -> 'diagnostic' ->> 'validation_stage', l.failure_reason
    )
    from pg_temp.row_of(answer) as l
$$;
create temporary table before_it on commit drop as select pg_temp.state() as state;

-- rejections, each with its row
select is(
    pg_temp.refused(g.answer), 'rejected ' || g.expected || ' ' || split_part(g.expected, ' ', 1), g.description
)
from target as t
cross join lateral (
    values
    ('no guard', pg_temp.submit('x'), 'context_invalid guard_required protocol_validation'),
    ('a stale version', pg_temp.submit('x', 1), 'target_version_mismatch precondition_guard'),
    ('a stale hash', pg_temp.submit('x', 0, repeat('0', 64)), 'target_hash_mismatch precondition_guard'),
    ('a key that is none', pg_temp.submit('x', 0, key => E'\t'),
        'context_invalid invalid_client_request_id protocol_validation'),
    ('a parent that is none', pg_temp.submit('x', 0, parent => t.id),
        'context_invalid invalid_parent protocol_validation'),
    ('no intent', pg_temp.submit('x', 0, intent => null), 'protocol_invalid protocol_validation'),
    ('no replacement', pg_temp.submit(null, 0), 'protocol_invalid protocol_validation')
) as g (description, answer, expected);
select is(pg_temp.rows_of_target(), 7::bigint, 'each has one row');
select is(pg_temp.state(), (select state from before_it), 'and nothing else has changed');
select is(
    pg_temp.submit('x', 0, target => g.target) @> jsonb_build_object(
        'status', 'rejected', 'failure_reason', g.reason, 'target_file_id', g.target, 'pdcp_log_id', null
    ),
    true, g.reason
)
from (values ('nonsense', 'invalid_target_id'), ('00000000-0000-4000-8000-000000000000', 'target_not_found'))
as g (target, reason);

-- what is too large
select is(
    pg_temp.submit(repeat('x', 1000001), g.version, key => g.key, target => g.target, intent => g.intent)
    @> '{"status": "invalid_argument", "code": "replacement_too_large", "pdcp_log_id": null}',
    true, 'too large: ' || g.description
)
from (
    values
    ('with a guard', 0, null, null, 'i'),
    ('with an unused key', 0, 'large', null, 'i'),
    ('without a guard', null, null, null, 'i'),
    ('with a stale guard', 1, null, null, 'i'),
    ('without an intent', 0, null, null, null),
    ('of a malformed target', 0, null, 'nonsense', 'i'),
    ('of an unknown target', 0, null, '00000000-0000-4000-8000-000000000000', 'i')
) as g (description, version, key, target, intent);
select is(pg_temp.rows_of_target(), 7::bigint, 'nothing of it is recorded');
select is(pg_temp.state(), (select state from before_it), 'and nothing changes');
select is(
    pg_temp.refused(pg_temp.submit(repeat('x', 1000001), 0, key => E'\t')),
    'rejected context_invalid invalid_client_request_id protocol_validation context_invalid',
    'a key that is none is judged before'
);

-- acceptance
create temporary table made on commit drop as
select pg_temp.submit(E'\u4E2D\r\nb\r"', 0, (select hash from target), 'k', source => 'dba') as answer;
select is(
    m.answer - 'pdcp_log_id',
    jsonb_build_object(
        'status', 'accepted', 'target_file_id', t.id, 'before_hash', t.hash,
        'after_hash', pg_temp.hash(E'\u4E2D\nb\n"'), 'version', 1, 'current_version', 1,
        'current_hash', pg_temp.hash(E'\u4E2D\nb\n"'), 'manifest_entries_added', 1, 'warnings', '[]'::jsonb,
        'warning_details', '[]'::jsonb, 'warning_count', 0, 'warnings_truncated', false,
        'validity', jsonb_build_object(
            'protocol_valid', true, 'transaction_valid', true, 'task_correct', 'not_evaluated',
            'semantic', 'not_evaluated'
        ),
        'evidence', jsonb_build_object('changes', jsonb_build_array(jsonb_build_object(
            'change_id', 'chg_001', 'change_index', 1, 'operation', 'replace_all', 'span_start', 0, 'span_end', 12,
            'matched_chars', 12, 'replacement_chars', 5, 'matched_sha256', t.hash,
            'replacement_sha256', pg_temp.hash(E'\u4E2D\nb\n"')
        ))),
        'deduplicated', false, 'client_request_id', 'k'
    ),
    'what may be admitted is accepted with every field'
)
from made as m, target as t;
select results_eq(
    $$ select l.status, l.protocol_version, l.runtime_version, l.source, l.client_request_id, l.pdcp_content
    from made as m, pg_temp.row_of(m.answer) as l $$,
    $$ values ('accepted', 'patchdiff-tx/3', 'patchdiff-mvp-0.4.0', 'dba', 'k',
        E'{"protocol":"patchdiff-tx/3","intent":"i","replacement":"\u4E2D\\r\\nb\\r\\""}' collate "C") $$,
    'with its row, the text as submitted'
);
select results_eq(
    $$ select g.derived, g.transaction_intent, g.rationale, g.origin, f.current_content collate "default"
    from target as t
    inner join patchdiff.manifest_ledger as g on g.target_file_id = t.id::uuid
    inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid $$,
    $$ select answer -> 'evidence' -> 'changes' -> 0, 'i', null::text, 'typed', E'\u4E2D\nb\n"' from made $$,
    'and one ledger row'
);
select is(
    pg_temp.submit(E'\u4E2D\r\nb\r"', 0, (select hash from target), 'k', attempt => 2),
    (select answer || '{"deduplicated": true}' from made),
    'the same again is answered from that row'
);
select is(pg_temp.rows_of_target(), 9::bigint, 'without another');
create temporary table conflict on commit drop as
select pg_temp.submit(repeat('x', 1000001), 1, key => 'k') as answer;
select is(
    c.answer @> jsonb_build_object(
        'status', 'rejected', 'failure_reason', 'context_invalid', 'current_version', 1, 'client_request_id', 'k',
        'diagnostic', jsonb_build_object(
            'format', 'patchdiff-tx/3', 'code', 'request_key_conflict',
            'existing_pdcp_log_id', m.answer -> 'pdcp_log_id', 'submitted_key_preview', 'k', 'retryable', false,
            'differing_components', '["pdcp_content_hash", "expected_target_version", "expected_current_hash"]'::jsonb
        )
    ),
    true, 'another text under the key is a conflict, however large'
)
from conflict as c, made as m;
select is(
    (select l.pdcp_content::jsonb ->> 'replacement' from conflict as c, pg_temp.row_of(c.answer) as l),
    repeat('x', 1000001), 'and is kept whole'
);
create temporary table emptied on commit drop as
select pg_temp.submit('', 1) as answer;
select is(
    (select answer ->> 'after_hash' from emptied), pg_temp.hash(''), 'an empty replacement empties the target'
);
select is(
    (select f.content_code_points from patchdiff.cloud_target_files as f, target as t
     where f.target_file_id = t.id::uuid), 0::bigint, 'to no code points'
);
select is(
    pg_temp.submit(repeat(E'\u4E2D', 349525) || 'x', 2) ->> 'after_hash', pg_temp.hash(repeat(E'\u4E2D', 349525) || 'x'),
    '1,048,576 bytes are admitted'
);
-- a record beyond the limits, as it can only have come in before there were any
create temporary table historical on commit drop as
select patchdiff.accept_attempt(
    t.id, 3, f.current_hash, 'patchdiff-tx/3',
    '{"protocol":"patchdiff-tx/3","intent":"i","replacement":"' || repeat('x', 1000001) || '"}',
    '{"client_request_id": "h", "expected_target_version": 3, "expected_current_hash": null,
      "parent_pdcp_log_id": null, "attempt": null, "source": "model_response"}',
    '{0}', '{0}', pg_temp.hash(repeat('x', 1000001))
) as outcome
from target as t
inner join patchdiff.cloud_target_files as f on f.target_file_id = t.id::uuid;
select is(
    pg_temp.submit(repeat('x', 1000001), 3, key => 'h') @> jsonb_build_object(
        'status', 'accepted', 'deduplicated', true, 'pdcp_log_id', outcome -> 'pdcp_log_id', 'version', 4
    ),
    true, 'a recorded replacement is recovered however large'
)
from historical;
select * from finish();
rollback;
