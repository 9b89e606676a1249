-- req: WORK-004, WORK-032
begin;
select plan(13);
create temp table made on commit drop as
select patchdiff.initialize_workspace_target(
    filename => 'docs/f.txt', content => E'alpha\r\nbeta\r\n', content_type => 'text/markdown',
    project_id => '0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66', root_device => 18446744073709551615,
    root_inode => 18446744073709551614
) as answer;
select is(m.answer ->> 'status', 'ok', 'status') from made as m;
select is(m.answer ->> 'filename', 'docs/f.txt', 'filename') from made as m;
select is(m.answer ->> 'target_type', 'text/markdown', 'type') from made as m;
select is(
    m.answer #>> '{source_line_endings,source_sha256}',
    '98ab4d3aeab1e120560e942e2df6a0db1147bf94bafcf1590000ffb3c2b6fc80', 'the hash of the bytes'
) from made as m;
select is(
    (
        select t.current_content from patchdiff.cloud_target_files as t
        where t.target_file_id = (m.answer ->> 'target_file_id')::uuid
    ), E'alpha\nbeta\n' collate "C", 'the text is canonical'
) from made as m;
select results_eq(
    $$select w.root_device, w.root_inode, w.relative_path, w.disk_sha256, w.disk_bytes, w.snapshot_id
      from patchdiff.workspace_files w, made m where w.target_file_id = (m.answer ->> 'target_file_id')::uuid$$,
    $$values (
        18446744073709551615::numeric(20), 18446744073709551614::numeric(20), 'docs/f.txt' collate "C",
        '98ab4d3aeab1e120560e942e2df6a0db1147bf94bafcf1590000ffb3c2b6fc80', 13::bigint, null::uuid
    )$$,
    'where the file is, and its bytes as they are on disk'
);
select is(
    (patchdiff.initialize_workspace_target('e', '', 'text/plain', null, 1, 2) ->> 'status'), 'ok', 'an empty file'
);
select results_eq(
    $$select w.disk_sha256, w.disk_bytes from patchdiff.workspace_files w where w.relative_path = 'e'$$,
    $$values ('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 0::bigint)$$,
    'has a baseline too'
);

create temp table counts on commit drop as
select
    (select count(*) from patchdiff.cloud_target_files) as targets,
    (select count(*) from patchdiff.workspace_files) as files;
select is(r.answer ->> 'status', 'invalid_argument', r.what)
from (
    values
    ('no filename', patchdiff.initialize_workspace_target('', 'x', 'text/plain', null, 1, 2)),
    ('no content', patchdiff.initialize_workspace_target('f', null, 'text/plain', null, 1, 2)),
    ('no project', patchdiff.initialize_workspace_target('f', 'x', 'text/plain', 'p', 1, 2))
) as r (what, answer);
select throws_ok(
    $$select patchdiff.initialize_workspace_target('f', 'x', 'text/plain', null, null, 2)$$, '23502', null,
    'a file is somewhere'
);
select results_eq(
    $$select (select count(*) from patchdiff.cloud_target_files), (select count(*) from patchdiff.workspace_files)$$,
    'select c.targets, c.files from counts c', 'refusals make nothing'
);
select * from finish();
rollback;
