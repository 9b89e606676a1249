-- req: WORK-008, WORK-009, WORK-015, WORK-016, WORK-017, WORK-033, WORK-045, WORK-048
begin;
select plan(30);
create temp table made (name text, id text) on commit drop;
insert into made (name, id)
select i.name, patchdiff.initialize_workspace_target(i.name, i.content, 'text/plain', null, 5, 6) ->> 'target_file_id'
from (values ('crlf', E'alpha\r\nbeta\r\n'), ('mixed', E'a\r\nb\n')) as i (name, content);
insert into made (name, id)
select 'inline', patchdiff.initialize_target('inline', E'a\nb\n') ->> 'target_file_id';
create function pg_temp.id(target_name text) returns text language sql as $$
    select m.id from made as m where m.name = target_name
$$;
-- everything that a publication could touch
create function pg_temp.state() returns text language sql as $$
    select jsonb_build_object(
        'targets', (select jsonb_agg(to_jsonb(t) order by t.target_file_id) from patchdiff.cloud_target_files as t),
        'cycles', (select jsonb_agg(to_jsonb(c) order by c.editing_cycle_id) from patchdiff.editing_cycles as c),
        'snapshots', (select jsonb_agg(to_jsonb(s) order by s.snapshot_id) from patchdiff.target_snapshots as s),
        'files', (select jsonb_agg(to_jsonb(w) order by w.target_file_id) from patchdiff.workspace_files as w)
    )::text
$$;
create temp table before on commit drop as select pg_temp.state() as state;

-- what publishes nothing
create temp table refused on commit drop as
select c.what, o.*
from (
    values
    ('version', 'crlf', '{"expected_target_version": 1}'::jsonb, false, 'original_eol', 5, 6),
    ('hash', 'crlf', '{"expected_current_hash": "x"}', false, 'original_eol', 5, 6),
    ('format', 'crlf', '{}', false, 'original_text', 5, 6),
    ('no format', 'crlf', '{}', false, null, 5, 6),
    ('flag', 'crlf', '{}', null, 'original_eol', 5, 6),
    ('device', 'crlf', '{}', false, 'original_eol', 6, 6),
    ('inode', 'crlf', '{}', false, 'original_eol', 5, 5),
    ('mixed', 'mixed', '{}', false, 'original_eol', 5, 6),
    ('mixed and version', 'mixed', '{"expected_target_version": 1}', false, 'original_eol', 5, 6),
    ('root and version', 'crlf', '{"expected_target_version": 1}', false, 'original_eol', 7, 8),
    ('unknown', 'nothing', '{}', false, 'original_eol', 5, 6)
) as c (what, name, guards, export_after_save, format, device, inode)
cross join lateral patchdiff.open_publication(
    coalesce(pg_temp.id(c.name), '00000000-0000-4000-8000-000000000000'), c.guards, c.export_after_save, c.format,
    c.device, c.inode
) as o;
select is(
    concat_ws(' ', r.answer ->> 'status', r.answer ->> 'failure_reason', r.answer ->> 'code'), e.expected, e.what
)
from (
    values
    ('version', 'rejected target_version_mismatch'),
    ('hash', 'rejected context_invalid invalid_expected_current_hash'),
    ('format', 'invalid_argument'),
    ('no format', 'invalid_argument'),
    ('flag', 'invalid_argument'),
    ('device', 'rejected workspace_root_mismatch workspace_root_mismatch'),
    ('inode', 'rejected workspace_root_mismatch workspace_root_mismatch'),
    ('mixed', 'rejected original_eol_unrecoverable original_eol_unrecoverable'),
    ('mixed and version', 'rejected target_version_mismatch'),
    ('root and version', 'rejected target_version_mismatch'),
    ('unknown', 'not_found')
) as e (what, expected)
left join refused as r on e.what = r.what;
select is_empty(
    $$select r.what from refused r where row(r.relative_path, r.content, r.content_eol, r.baseline_sha256,
        r.baseline_bytes) is distinct from row(null::text, null::text, null::text, null::text, null::bigint)$$,
    'a refusal has nothing to write'
);
select is(pg_temp.state(), (select b.state from before as b), 'and has written nothing');
select is(
    (select o.answer ->> 'code' from patchdiff.open_publication('x', '{}', false, 'crlf', 1, 2) as o),
    'invalid_target_id', 'a malformed id'
);

-- what does, again and again: each time the bytes before are those of the time before
create temp table published on commit drop as
select f.number, f.format, o.*
from (values (1, 'original_eol'), (2, 'canonical_lf'), (3, 'crlf')) as f (number, format)
cross join lateral patchdiff.open_publication(
    pg_temp.id('crlf'), '{"expected_target_version": 0}', f.number = 3, f.format, 5, 6
) as o;
select is(
    (select p.answer - 'new_editing_cycle_id' - 'snapshot_id' from published as p where p.number = 1),
    (
        select jsonb_build_object(
            'status', 'saved', 'target_file_id', t.target_file_id, 'version', 0, 'current_hash', t.current_hash,
            'closed_editing_cycle_id', c.editing_cycle_id
        )
        from patchdiff.cloud_target_files as t
        inner join patchdiff.editing_cycles as c on t.target_file_id = c.target_file_id
        where t.target_file_id = pg_temp.id('crlf')::uuid
        order by c.closed_at
        limit 1
    ),
    'the answer of a save'
);
select is((select p.answer ? 'export' from published as p where p.number = 1)::text, 'false', 'no export unless asked');
select is(
    (select p.answer #>> '{export,content}' from published as p where p.number = 3), E'alpha\nbeta\n', 'one when asked'
);
select results_eq(
    'select p.relative_path, p.content, p.content_eol, p.baseline_sha256, p.baseline_bytes
     from published p order by p.number',
    $$values
    ('crlf', E'alpha\r\nbeta\r\n', 'crlf', '98ab4d3aeab1e120560e942e2df6a0db1147bf94bafcf1590000ffb3c2b6fc80', 13::bigint),
    ('crlf', E'alpha\nbeta\n', 'lf', '98ab4d3aeab1e120560e942e2df6a0db1147bf94bafcf1590000ffb3c2b6fc80', 13),
    ('crlf', E'alpha\r\nbeta\r\n', 'crlf', 'e49c81e2d2f84e259d40e2fb8192f3bcd198b355184845d76d8f58807d0d78ee', 11)$$,
    'what to write, and what must be there before'
);
select results_eq(
    $$select w.root_device, w.root_inode, w.relative_path, w.disk_sha256, w.disk_bytes, w.snapshot_id::text
      from patchdiff.workspace_files w where w.target_file_id = pg_temp.id('crlf')::uuid$$,
    $$select 5::numeric(20), 6::numeric(20), 'crlf' collate "C",
          '98ab4d3aeab1e120560e942e2df6a0db1147bf94bafcf1590000ffb3c2b6fc80', 13::bigint, p.answer ->> 'snapshot_id'
      from published p where p.number = 3$$,
    'the last is the next one''s baseline'
);
select is(
    (
        select count(*)::text from patchdiff.target_snapshots as s
        where s.target_file_id = pg_temp.id('crlf')::uuid and s.snapshot_reason = 'save_checkpoint'
    ), '3', 'each has its snapshot'
);
select is(
    (select o.content from patchdiff.open_publication(pg_temp.id('mixed'), '{}', false, 'crlf', 5, 6) as o),
    E'a\r\nb\r\n', 'mixed line ends in a chosen form'
);

-- a text that was no file is bound by its first publication
create temp table first_time on commit drop as
select o.* from patchdiff.open_publication(pg_temp.id('inline'), '{}', false, 'original_eol', 7, 8) as o;
select is(f.relative_path, 'inline', 'its path is the filename') from first_time as f;
select is(f.content, E'a\nb\n', 'its text') from first_time as f;
select is(f.content_eol, 'lf', 'its line ends') from first_time as f;
select ok(f.baseline_sha256 is null and f.baseline_bytes is null, 'nothing may be there before') from first_time as f;
select results_eq(
    $$select w.root_device, w.root_inode, w.disk_sha256, w.disk_bytes
      from patchdiff.workspace_files w where w.target_file_id = pg_temp.id('inline')::uuid$$,
    $$values (7::numeric(20), 8::numeric(20), '911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2', 4::bigint)$$,
    'and it belongs to the root'
);
select is(
    (
        select o.answer ->> 'code' from patchdiff.open_publication(
            pg_temp.id('inline'), '{}', false, 'original_eol', 5, 6
        ) as o
    ), 'workspace_root_mismatch', 'to this one only'
);
select is(
    (
        select t.version::text from patchdiff.cloud_target_files as t
        where t.target_file_id = pg_temp.id('crlf')::uuid
    ), '0', 'no text has changed'
);
select row_eq(
    $$select count(*), count(*) filter (where c.closed_at is null) from patchdiff.editing_cycles c
      where c.target_file_id = pg_temp.id('crlf')::uuid$$,
    row(4::bigint, 1::bigint), 'each has ended a cycle'
);
select ok(not has_table_privilege('patchdiff_editor', 'patchdiff.workspace_files', 'select'), 'by functions only');
select * from finish();
rollback;
