-- req: SAVE-002, SAVE-003, SAVE-004, SAVE-005, SAVE-006, SAVE-012, SAVE-013, SAVE-015, SAVE-016
begin;
select plan(26);
create temp table made on commit drop as
select
    patchdiff.initialize_target('f', E'alpha\nbeta\n') ->> 'target_file_id' as target,
    patchdiff.initialize_target('g', 'other') ->> 'target_file_id' as other;
select patchdiff.submit_spans(
    made.target, 'i', '[{"start": 0, "end": 5, "expected_text": "alpha", "replace": "gamma"}]', 0
) ->> 'status' as submitted
from made;
-- everything that a save could touch
create function pg_temp.state(target text) returns text language sql as $$
    select jsonb_build_object(
        'target', (select to_jsonb(t) from patchdiff.cloud_target_files as t where t.target_file_id = state.target::uuid),
        'cycles', (
            select jsonb_agg(to_jsonb(c) order by c.opened_at, c.closed_at)
            from patchdiff.editing_cycles as c where c.target_file_id = state.target::uuid
        ),
        'snapshots', (
            select jsonb_agg(to_jsonb(s) order by s.created_at, s.snapshot_id)
            from patchdiff.target_snapshots as s where s.target_file_id = state.target::uuid
        ),
        'log', (select count(*) from patchdiff.append_only_pdcp_logs as l where l.target_file_id = state.target::uuid)
    )::text
$$;
create temp table before on commit drop as
select t.*, pg_temp.state(m.target) as state, pg_temp.state(m.other) as other_state
from made as m
inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid;

-- what saves nothing
create temp table refused on commit drop as
select
    a.what, a.answer, pg_temp.state(m.target) as state
from made as m
cross join lateral (
    values
    ('version', patchdiff.save_checkpoint(m.target, '{"expected_target_version": 0}')),
    ('hash', patchdiff.save_checkpoint(m.target, jsonb_build_object('expected_current_hash', repeat('0', 64)))),
    ('malformed', patchdiff.save_checkpoint(m.target, '{"expected_target_version": -1}')),
    ('flag', patchdiff.save_checkpoint(m.target, '{}', null)),
    ('unknown', patchdiff.save_checkpoint('00000000-0000-4000-8000-000000000000', '{}')),
    ('no id', patchdiff.save_checkpoint('x', '{}')),
    ('null id', patchdiff.save_checkpoint(null, '{}'))
) as a (what, answer);
select is(r.answer ->> 'status', e.status, e.what || ': status')
from (
    values
    ('version', 'rejected'), ('hash', 'rejected'), ('malformed', 'rejected'), ('flag', 'invalid_argument'),
    ('unknown', 'not_found'), ('no id', 'invalid_argument'), ('null id', 'invalid_argument')
) as e (what, status)
inner join refused as r on e.what = r.what;
select is(
    (select string_agg(r.answer ->> 'failure_reason', ' ' order by r.what) from refused as r),
    'target_hash_mismatch context_invalid target_version_mismatch', 'reasons of the rejections'
);
select is(
    (select r.answer - 'failure_detail' from refused as r where r.what = 'version'),
    (
        select jsonb_build_object(
            'status', 'rejected', 'failure_reason', 'target_version_mismatch', 'validation_stage', 'precondition_guard',
            'target_file_id', b.target_file_id, 'snapshot_id', null, 'closed_editing_cycle_id', null,
            'new_editing_cycle_id', null, 'current_hash', b.current_hash, 'version', 1
        ) from before as b
    ),
    'a rejection has the fields of a save, ids unset'
);
select is_empty(
    'select r.what from refused r, before b where r.state <> b.state', 'none of them changed anything'
);

-- a save
create temp table saved on commit drop as
select patchdiff.save_checkpoint(m.target, '{"expected_target_version": 1}') as answer from made as m;
create temp table after on commit drop as
select t.* from made as m
inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid;
select is(
    (select s.answer from saved as s),
    (
        select jsonb_build_object(
            'status', 'saved', 'target_file_id', a.target_file_id,
            'snapshot_id', (
                select n.snapshot_id from patchdiff.target_snapshots as n
                where n.target_file_id = a.target_file_id and n.snapshot_reason = 'save_checkpoint'
            ),
            'closed_editing_cycle_id', b.active_editing_cycle_id,
            'new_editing_cycle_id', a.active_editing_cycle_id,
            'current_hash', b.current_hash, 'version', 1
        ) from before as b, after as a
    ),
    'the answer: both cycles, the snapshot, hash and version'
);
select isnt(
    (select b.active_editing_cycle_id from before as b), (select a.active_editing_cycle_id from after as a),
    'the cycle is another'
);
select is(
    (
        select row(a.current_content, a.current_hash, a.version, a.log_head_sequence, a.content_changed_at)::text
        from after as a
    ),
    (
        select row(b.current_content, b.current_hash, b.version, b.log_head_sequence, b.content_changed_at)::text
        from before as b
    ),
    'text, hash, version and log are as they were'
);
select results_eq(
    $$select s.content, s.content_hash, s.version, s.editing_cycle_id from patchdiff.target_snapshots s, after a
      where s.target_file_id = a.target_file_id and s.snapshot_reason = 'save_checkpoint'$$,
    $$select E'gamma\nbeta\n' collate "C", b.current_hash, 1::bigint, b.active_editing_cycle_id from before b$$,
    'one snapshot of the text, in the cycle that it closes'
);
select results_eq(
    $$select c.editing_cycle_id, c.opened_version, c.closed_version, c.closed_at is null
      from patchdiff.editing_cycles c, after a where c.target_file_id = a.target_file_id
      order by c.closed_at nulls last$$,
    $$select b.active_editing_cycle_id, 0::bigint, 1::bigint, false from before b
      union all select a.active_editing_cycle_id, 1::bigint, null::bigint, true from after a$$,
    'the old cycle is closed at this version, one new is open from it on'
);
select is(
    (
        select count(distinct c.at)::text
        from after as a
        inner join patchdiff.editing_cycles as e on e.target_file_id = a.target_file_id
        cross join lateral (values (e.closed_at), (case when e.closed_at is null then e.opened_at end)) as c (at)
    ),
    '1', 'no time lies between the two'
);
select is(
    (
        select count(*)::text from after as a
        inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = a.target_file_id
    ),
    '1', 'a save is no attempt'
);
select is((select pg_temp.state(m.other) from made as m), (select b.other_state from before as b), 'of one target only');

-- again, with nothing edited between, and with an export
create temp table again on commit drop as
select patchdiff.save_checkpoint(m.target, '{}', true) as answer from made as m;
select is((select a.answer ->> 'status' from again as a), 'saved', 'an unedited text can be saved again');
select is(
    (select a.answer ->> 'closed_editing_cycle_id' from again as a),
    (select s.answer ->> 'new_editing_cycle_id' from saved as s), 'cycle after cycle'
);
select is(
    (select a.answer -> 'export' from again as a),
    (select patchdiff.export_target(m.target) from made as m), 'the export is that of the default format'
);
select is((select s.answer ? 'export' from saved as s)::text, 'false', 'none unless it was asked for');
select is(
    (
        select count(*)::text from patchdiff.target_snapshots as s, made as m
        where s.target_file_id = m.target::uuid and s.snapshot_reason = 'save_checkpoint'
    ),
    '2', 'each save keeps its own snapshot'
);
select is(
    (
        select count(*)::text from patchdiff.editing_cycles as c, made as m
        where c.target_file_id = m.target::uuid and c.closed_at is null
    ),
    '1', 'one cycle is open'
);

-- a text that does not have its hash
update patchdiff.cloud_target_files as t set current_content = 'x' from made as m where t.target_file_id = m.other::uuid;
select is(
    (select patchdiff.save_checkpoint(m.other, '{}') ->> 'failure_reason' from made as m), 'target_diverged',
    'a diverged text is not kept'
);
select is(
    (
        select count(*)::text from patchdiff.target_snapshots as s, made as m
        where s.target_file_id = m.other::uuid
    ),
    '1', 'and nothing was'
);
select * from finish();
rollback;
