begin;
select plan(9);
select function_privs_are(
    'patchdiff', 'replay_inputs', array['text'], 'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
create temp table made on commit drop as
select patchdiff.initialize_target('f', 'zero') ->> 'target_file_id' as target;
select patchdiff.submit_replacement(m.target, 'i', n.text, expected_target_version => n.version) ->> 'status' as submitted
from made as m cross join (values ('one', 0), ('rejected', 0), ('two', 1)) as n (text, version);
select patchdiff.save(m.target) ->> 'status' as saved from made as m;
create temp table input on commit drop as
select r.*, row_number() over () as n from made as m cross join lateral patchdiff.replay_inputs(m.target) as r;
select is(
    (select string_agg(i.part, ' ' order by i.n) from input as i), 'target snapshot attempt attempt',
    'the target, its initial snapshot, and the accepted attempts'
);
select is(
    (select i.facts from input as i where i.n = 1),
    (
        select jsonb_build_object('version', 2, 'current_hash', t.current_hash, 'missing_attempt', null)
        from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
    ),
    'the target''s facts'
);
select is((select i.body from input as i where i.n = 1), 'two', 'and its text');
select is(
    (select jsonb_build_object('body', i.body) || i.facts from input as i where i.n = 2),
    jsonb_build_object('body', 'zero', 'version', 0, 'content_hash', patchdiff._sha256_hex('zero')), 'the snapshot'
);
select is(
    (select jsonb_agg(i.facts order by i.n) from input as i where i.part = 'attempt'),
    (
        select
            jsonb_agg(
                jsonb_build_object(
                    'log_sequence', l.log_sequence, 'pdcp_log_id', l.pdcp_log_id, 'protocol_version', 'patchdiff-tx/3',
                    'runtime_version', 'patchdiff-mvp-0.4.0', 'pdcp_content_hash', l.pdcp_content_hash,
                    'before_version', l.before_version, 'before_hash', l.before_hash, 'after_version', l.after_version,
                    'after_hash', l.after_hash, 'changes', patchdiff._ledger_facts(l.target_file_id, l.pdcp_log_id),
                    'editing_cycle_id', l.editing_cycle_id, 'observation_id', null, 'receipts', '[]'::jsonb, 'bundle', null
                ) order by l.after_version
            )
        from made as m inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = m.target::uuid
        where l.status = 'accepted'
    ),
    'the attempts'
);
select is(
    (select i.body from input as i where i.n = 4), '{"protocol":"patchdiff-tx/3","intent":"i","replacement":"two"}',
    'each with its record'
);
select is(
    (select r.facts ->> 'status' from patchdiff.replay_inputs('00000000-0000-4000-8000-000000000000') as r), 'not_found',
    'an unknown target is one row'
);
select is((select r.facts ->> 'code' from patchdiff.replay_inputs('x') as r), 'invalid_target_id', 'and so is no id');
select * from finish();
rollback;
