begin;
select plan(9);
create temporary table target on commit drop as
select
    r.answer ->> 'target_file_id' as id,
    r.answer ->> 'current_hash' as hash
from (select patchdiff.initialize_target(filename => 'a', content => 'alpha') as answer) as r;
create function pg_temp.concluded(opened jsonb, evaluation jsonb default null, target text default null)
returns jsonb language sql as $$
    select patchdiff._conclude_submission(
        coalesce(concluded.target, t.id), 'patchdiff-tx/2',
        '{"protocol":"patchdiff-tx/2","intent":"i","operations":[{"op":"span","start":0,"end":1,"expected_text":"a",'
        '"replace":"b"}]}',
        '{"expected_target_version": 0, "client_request_id": "k", "source": "s"}',
        concluded.opened, concluded.evaluation
    )
    from target as t
$$;
create function pg_temp.at_start() returns jsonb language sql as $$
    select jsonb_build_object('version', 0, 'current_hash', t.hash) from target as t
$$;
create function pg_temp.evaluation(result text) returns jsonb language sql as $$
    select jsonb_build_object(
        'span_starts', array[0], 'byte_starts', array[0],
        'after_hash', encode(sha256(convert_to(result, 'UTF8')), 'hex')
    )
$$;
create function pg_temp.rows_of_target() returns bigint language sql as $$
    select count(*) from patchdiff.append_only_pdcp_logs as l, target as t where l.target_file_id = t.id::uuid
$$;
select is(
    pg_temp.concluded(
        '{"outcome": "refused", "target": null, "failure": {"failure_reason": "target_not_found", "failure_detail": "d",
          "code": null, "validation_stage": "precondition_guard"}}', target => gen_random_uuid()::text
    ) - array['target_file_id', 'validity'],
    '{"status": "rejected", "failure_reason": "target_not_found", "failure_detail": "d", "failed_change_id": null,
      "before_hash": null, "after_hash": null, "current_version": null, "current_hash": null, "pdcp_log_id": null,
      "diagnostic": {"format": "patchdiff-tx/2", "retryable": false, "requires_new_submission": true,
      "validation_stage": "precondition_guard"}, "deduplicated": false, "client_request_id": "k"}'::jsonb,
    'without a target nothing is recorded'
);
select throws_ok(
    $$ select pg_temp.concluded(
        jsonb_build_object('outcome', 'open', 'target', pg_temp.at_start()), pg_temp.evaluation('another')
    ) $$,
    'XX000', null, 'what cannot be recorded raises'
);
select is(pg_temp.rows_of_target(), 0::bigint, 'and leaves nothing behind');
create temporary table failed on commit drop as
select pg_temp.concluded(
    jsonb_build_object('outcome', 'open', 'target', pg_temp.at_start()),
    '{"failure": {"failure_reason": "span_out_of_bounds", "failure_detail": "d", "failed_change_id": "c", "code": null,
      "validation_stage": "transaction_applicability", "span_check": "bounds", "buffer_length": 5}}'
) as answer;
select is(
    (
        select answer @> '{"status": "rejected", "failure_reason": "span_out_of_bounds", "failed_change_id": "c",
          "current_version": 0, "diagnostic": {"span_check": "bounds", "retryable": true}, "deduplicated": false}'
        from failed
    ), true, 'what evaluation found is recorded'
);
select results_eq(
    $$ select l.pdcp_log_id::text, l.failed_change_id, l.client_request_id, l.source, l.diagnostic_json
    from patchdiff.append_only_pdcp_logs as l, target as t where l.target_file_id = t.id::uuid $$,
    $$ select answer ->> 'pdcp_log_id', 'c', 'k', 's', answer -> 'diagnostic' from failed $$,
    'in the row that the answer names'
);
select is(
    pg_temp.concluded(
        jsonb_build_object(
            'outcome', 'recovered', 'target', pg_temp.at_start(), 'recorded',
            patchdiff._recorded_attempt(t.id::uuid, (f.answer ->> 'pdcp_log_id')::uuid)
        )
    ),
    f.answer || '{"deduplicated": true}',
    'a recovery is answered with it'
)
from target as t, failed as f;
select is(pg_temp.rows_of_target(), 1::bigint, 'and adds none');
delete from pg_temp.target;
insert into pg_temp.target
select r.answer ->> 'target_file_id', r.answer ->> 'current_hash'
from (select patchdiff.initialize_target(filename => 'a', content => 'alpha') as answer) as r;
create temporary table accepted on commit drop as
select pg_temp.concluded(
    jsonb_build_object('outcome', 'open', 'target', pg_temp.at_start()), pg_temp.evaluation('blpha')
) as answer;
select is(
    a.answer - array['evidence', 'validity', 'pdcp_log_id'],
    jsonb_build_object(
        'status', 'accepted', 'target_file_id', t.id, 'before_hash', t.hash,
        'after_hash', encode(sha256('blpha'), 'hex'), 'version', 1, 'current_version', 1,
        'current_hash', encode(sha256('blpha'), 'hex'), 'manifest_entries_added', 1, 'warnings', '[]'::jsonb,
        'warning_details', '[]'::jsonb, 'warning_count', 0, 'warnings_truncated', false, 'deduplicated', false,
        'client_request_id', 'k'
    ),
    'what applies is accepted'
)
from accepted as a, target as t;
select results_eq(
    $$ select l.pdcp_log_id::text, l.after_version, f.version, f.current_content collate "default"
    from patchdiff.append_only_pdcp_logs as l
    inner join patchdiff.cloud_target_files as f on l.target_file_id = f.target_file_id
    inner join target as t on l.target_file_id = t.id::uuid $$,
    $$ select answer ->> 'pdcp_log_id', 1::bigint, 1::bigint, 'blpha' from accepted $$,
    'and recorded with the new text'
);
select * from finish();
rollback;
