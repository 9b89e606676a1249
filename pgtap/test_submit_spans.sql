-- req: SQL-010, SQL-011, TX2-004, TX2-030, TX2-034, TX2-035, TX2-036, TX2-040, TX2-041, TX2-043, TX2-045
-- req: SUBM-015
begin;
select plan(39);
select
    has_function(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text']
    );
select
    volatility_is(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'volatile'
    );
select
    is_definer(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text']
    );
select
    function_lang_is(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'plpgsql'
    );
select
    function_privs_are(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'patchdiff_editor',
        array['EXECUTE']
    );
select
    function_privs_are(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
        'patchdiff_reader',
        array[]::text[]
    );
select
    function_privs_are(
        'patchdiff',
        'submit_spans',
        array['text', 'text', 'jsonb', 'bigint', 'text', 'text', 'text', 'bigint', 'text'],
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
    spans text, version bigint default null, hash text default null, key text default null, parent text default null,
    attempt bigint default null, source text default 'model_response', target text default null, intent text default 'i'
) returns jsonb language sql as $$
    select patchdiff.submit_spans(
        target_file_id => coalesce(submit.target, t.id), intent => submit.intent, spans => submit.spans::jsonb,
        expected_target_version => submit.version, expected_current_hash => submit.hash,
        client_request_id => submit.key, parent_pdcp_log_id => submit.parent, attempt => submit.attempt,
        source => submit.source
    )
    from target as t
$$;
create temporary table before_it on commit drop as select pg_temp.state() as state;

-- rejections, each with its row
create temporary table mismatch on commit drop as
select pg_temp.submit(
    '[{"start": 0, "end": 5, "expected_text": "alpha", "replace": "x"},
      {"start": 4, "end": 8, "expected_text": "beta", "replace": "gamma", "change_id": "second"}]', 0, key => 'k'
) as answer;
select is(
    m.answer - 'pdcp_log_id',
    jsonb_build_object(
        'status', 'rejected', 'target_file_id', t.id, 'failure_reason', 'span_expected_text_mismatch',
        'failure_detail', 'The text of the span''s expected_text is not what stands there.',
        'failed_change_id', 'second', 'before_hash', t.hash, 'after_hash', null, 'current_version', 0,
        'current_hash', t.hash, 'diagnostic', jsonb_build_object(
            'format', 'patchdiff-tx/2', 'span_check', 'expected_text', 'buffer_length', 8, 'actual_text', 'eta' || E'\n',
            'actual_text_truncated', false, 'expected_chars', 4, 'actual_chars', 4, 'retryable', true,
            'requires_new_submission', true, 'validation_stage', 'transaction_applicability'
        ), 'validity', jsonb_build_object(
            'protocol_valid', true, 'transaction_valid', false, 'task_correct', 'not_evaluated',
            'semantic', 'not_evaluated'
        ), 'deduplicated', false, 'client_request_id', 'k'
    ),
    'a text that is not there is rejected with every field'
)
from mismatch as m, target as t;
select results_eq(
    $$ select l.status, l.failure_reason, l.failed_change_id, l.protocol_version, l.runtime_version, l.client_request_id,
        l.diagnostic_json, l.pdcp_content from mismatch as m, pg_temp.row_of(m.answer) as l $$,
    $$ select 'rejected', 'span_expected_text_mismatch', 'second', 'patchdiff-tx/2', 'patchdiff-mvp-0.3.0', 'k',
        m.answer -> 'diagnostic', '{"protocol":"patchdiff-tx/2","intent":"i","operations":[{"op":"span","start":0,'
        '"end":5,"expected_text":"alpha","replace":"x"},{"op":"span","start":4,"end":8,"expected_text":"beta",'
        '"replace":"gamma","change_id":"second"}]}' collate "C" from mismatch as m $$,
    'and recorded'
);
select is(
    pg_temp.submit(
        '[{"start": 0, "end": 5, "expected_text": "alpha", "replace": "x"},
          {"start": 4, "end": 8, "expected_text": "beta", "replace": "gamma", "change_id": "second"}]', 0, key => 'k'
    ),
    (select answer || '{"deduplicated": true}' from mismatch),
    'the same again is answered from that row'
);
select is(pg_temp.rows_of_target(), 1::bigint, 'without another');
create function pg_temp.refused(answer jsonb) returns text language sql as $$
    select concat_ws(
        ' ', answer ->> 'status', answer ->> 'failure_reason', answer -> 'diagnostic' ->> 'code',
        answer -> 'diagnostic' ->> 'validation_stage', l.failure_reason
    )
    from pg_temp.row_of(answer) as l
$$;
create temporary table stale on commit drop as
select t.id, repeat('0', 64) as other_hash, '[{"start": 0, "end": 0, "expected_text": "", "replace": "x"}]' as spans
from target as t;
select is(
    pg_temp.refused(g.answer), 'rejected ' || g.expected || ' ' || split_part(g.expected, ' ', 1), g.description
)
from stale as s
cross join lateral (
    values
    ('out of bounds', pg_temp.submit('[{"start": 12, "end": 13, "expected_text": "x", "replace": ""}]', 0),
        'span_out_of_bounds transaction_applicability'),
    ('before', pg_temp.submit('[{"start": 6, "end": 6, "expected_text": "", "replace": "", "expected_before": "x"}]', 0),
        'span_expected_text_mismatch transaction_applicability'),
    ('no guard', pg_temp.submit(s.spans), 'context_invalid guard_required protocol_validation'),
    ('a negative version', pg_temp.submit(s.spans, -1),
        'context_invalid invalid_expected_target_version protocol_validation'),
    ('a hash in upper case', pg_temp.submit(s.spans, 0, upper(repeat('a', 64))),
        'context_invalid invalid_expected_current_hash protocol_validation'),
    ('a stale version', pg_temp.submit(s.spans, 1), 'target_version_mismatch precondition_guard'),
    ('a stale hash', pg_temp.submit(s.spans, 0, s.other_hash), 'target_hash_mismatch precondition_guard'),
    ('both stale', pg_temp.submit(s.spans, 1, s.other_hash), 'target_version_mismatch precondition_guard'),
    ('another request under the key', pg_temp.submit(s.spans, 0, key => 'k'),
        'context_invalid request_key_conflict precondition_guard'),
    ('a key that is none', pg_temp.submit(s.spans, 0, key => ''),
        'context_invalid invalid_client_request_id protocol_validation'),
    ('a parent that is none', pg_temp.submit(s.spans, 0, parent => s.id),
        'context_invalid invalid_parent protocol_validation'),
    ('attempt 0', pg_temp.submit(s.spans, 0, attempt => 0), 'context_invalid invalid_attempt protocol_validation'),
    ('no source', pg_temp.submit(s.spans, 0, source => null), 'context_invalid invalid_source protocol_validation'),
    ('no intent', pg_temp.submit(s.spans, 0, intent => null), 'protocol_invalid protocol_validation'),
    ('no spans', pg_temp.submit(null, 0), 'protocol_invalid protocol_validation'),
    ('a text of the wrong type', pg_temp.submit('[{"start": 0, "end": 0, "expected_text": 1, "replace": ""}]', 0),
        'protocol_invalid protocol_validation')
) as g (description, answer, expected);
select is(pg_temp.rows_of_target(), 17::bigint, 'each has one row');
select is(pg_temp.state(), (select state from before_it), 'and nothing else has changed');
select is(
    (select array_agg(l.client_request_id order by l.client_request_id)
     from patchdiff.append_only_pdcp_logs as l, target as t where l.target_file_id = t.id::uuid),
    array['k'] || array_fill(null::text, array[16]), 'a conflict does not bind its key'
);
select is(
    pg_temp.submit('[]', 0, target => g.target) @> jsonb_build_object(
        'status', 'rejected', 'failure_reason', g.reason, 'target_file_id', g.target, 'pdcp_log_id', null,
        'before_hash', null, 'current_version', null, 'current_hash', null
    ),
    true, g.reason
)
from (values ('nonsense', 'invalid_target_id'), ('00000000-0000-4000-8000-000000000000', 'target_not_found'))
as g (target, reason);

-- acceptance
create temporary table made on commit drop as
select pg_temp.submit(
    E'[{"start": 7, "end": 11, "expected_text": "beta", "replace": "c\\r\\nd", "rationale": "r", "risk": "low",
        "expected_before": "\u4E2D", "expected_after": "\\r"},
       {"start": 0, "end": 0, "expected_text": "", "replace": "\u00E9"}]',
    0, (select hash from target), 'n', (select answer ->> 'pdcp_log_id' from mismatch), 2, 'dba'
) as answer;
select is(
    m.answer - 'pdcp_log_id',
    jsonb_build_object(
        'status', 'accepted', 'target_file_id', t.id, 'before_hash', t.hash,
        'after_hash', pg_temp.hash(E'\u00E9alpha \u4E2Dc\nd\n'), 'version', 1, 'current_version', 1,
        'current_hash', pg_temp.hash(E'\u00E9alpha \u4E2Dc\nd\n'), 'manifest_entries_added', 2, 'warnings', '[]'::jsonb,
        'warning_details', '[]'::jsonb, 'warning_count', 0, 'warnings_truncated', false,
        'validity', jsonb_build_object(
            'protocol_valid', true, 'transaction_valid', true, 'task_correct', 'not_evaluated',
            'semantic', 'not_evaluated'
        ),
        'evidence', jsonb_build_object('changes', jsonb_build_array(
            jsonb_build_object(
                'change_id', 'chg_001', 'change_index', 1, 'operation', 'span', 'span_start', 7, 'span_end', 11,
                'matched_chars', 4, 'replacement_chars', 3, 'matched_sha256', pg_temp.hash('beta'),
                'replacement_sha256', pg_temp.hash(E'c\nd')
            ),
            jsonb_build_object(
                'change_id', 'chg_002', 'change_index', 2, 'operation', 'span', 'span_start', 0, 'span_end', 0,
                'matched_chars', 0, 'replacement_chars', 1, 'matched_sha256', pg_temp.hash(''),
                'replacement_sha256', pg_temp.hash(E'\u00E9')
            )
        )),
        'deduplicated', false, 'client_request_id', 'n'
    ),
    'what applies is accepted with every field'
)
from made as m, target as t;
select results_eq(
    $$ select l.status, l.protocol_version, l.runtime_version, l.after_version, l.source, l.regeneration_attempt,
        l.parent_pdcp_log_id::text, l.intent, l.diagnostic_json from made as m, pg_temp.row_of(m.answer) as l $$,
    $$ select 'accepted', 'patchdiff-tx/2', 'patchdiff-mvp-0.5.0', 1::bigint, 'dba', 2::bigint,
        answer ->> 'pdcp_log_id', 'i', null::jsonb from mismatch $$,
    'with its row'
);
select results_eq(
    $$ select g.derived, g.intent, g.rationale, g.risk, g.origin
    from patchdiff.manifest_ledger as g, target as t where g.target_file_id = t.id::uuid order by g.change_index $$,
    $$ select c.change, case c.position when 1 then 'r' else 'i' end, case c.position when 1 then 'r' end,
        case c.position when 1 then 'low' end, 'typed'
    from made as m, jsonb_array_elements(m.answer -> 'evidence' -> 'changes') with ordinality as c (change, position)
    order by c.position $$,
    'and a ledger row for each span'
);
select is(
    (select f.current_content collate "default" from patchdiff.cloud_target_files as f, target as t
     where f.target_file_id = t.id::uuid), E'\u00E9alpha \u4E2Dc\nd\n', 'and the new text'
);
create temporary table later on commit drop as
select pg_temp.submit('[{"start": 0, "end": 1, "expected_text": "\u00E9", "replace": ""}]', 1) as answer;
select is(
    pg_temp.submit(
        E'[{"start": 7, "end": 11, "expected_text": "beta", "replace": "c\\r\\nd", "rationale": "r", "risk": "low",
            "expected_before": "\u4E2D", "expected_after": "\\r"},
           {"start": 0, "end": 0, "expected_text": "", "replace": "\u00E9"}]',
        0, (select hash from target), 'n', (select answer ->> 'pdcp_log_id' from mismatch), 3, 'someone else'
    ),
    m.answer || jsonb_build_object(
        'deduplicated', true, 'current_version', 2, 'current_hash', pg_temp.hash(E'alpha \u4E2Dc\nd\n')
    ),
    'a recovery names what was recorded and the target now'
)
from made as m;
select is(pg_temp.rows_of_target(), 19::bigint, 'and writes nothing');
update patchdiff.cloud_target_files set current_content = 'x'
where target_file_id = (select id::uuid from target);
select is(
    pg_temp.submit('[{"start": 0, "end": 1, "expected_text": "x", "replace": ""}]', 2) ->> 'failure_reason',
    'target_diverged', 'a text that lost its hash is not edited'
);
select * from finish();
rollback;
