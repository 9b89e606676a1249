-- req: SQL-004, SQL-005, SQL-006, SQL-007, SQL-008
-- req: LIFE-002, LIFE-003, LIFE-004, LIFE-005, LIFE-006, LIFE-007, LIFE-008, LIFE-013, LIFE-014, LIFE-015
-- req: LIFE-016, LIFE-017, LIFE-018, LIFE-019, LIFE-027, LIFE-028, EOL-001, EOL-012, EOL-014
begin;
select plan(53);

select has_function('patchdiff', 'initialize_target', array['text', 'text', 'text', 'text'], 'signature');
select function_returns('patchdiff', 'initialize_target', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'initialize_target', 'plpgsql', 'language');
select volatility_is('patchdiff', 'initialize_target', 'volatile', 'it writes');
select is_definer('patchdiff', 'initialize_target', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'initialize_target', array['text', 'text', 'text', 'text'], 'patchdiff_editor',
    array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'initialize_target', array['text', 'text', 'text', 'text'], 'patchdiff_reader',
    array[]::text[], 'the reader may not'
);
select ok(
    not has_function_privilege('public', 'patchdiff.initialize_target(text, text, text, text)', 'execute'),
    'PUBLIC may not'
);

create temp table made (name text primary key, answer jsonb not null, id uuid);
insert into made (name, answer)
values
(
    'named', patchdiff.initialize_target(
        filename => 'doc.md', content => E'a\r\nb\r\nc', content_type => 'text/markdown',
        project_id => '0E66CB5C-0E66-4A5C-8B5C-0E66CB5C0E66'
    )
),
('lf', patchdiff.initialize_target('a', E'a\nb\nc')),
('empty', patchdiff.initialize_target('empty', '', project_id => null)),
('mixed', patchdiff.initialize_target('m', E'\r\r\n\n\r')),
(
    'other', patchdiff.initialize_target(
        'o', E'\uFEFF1\u20282\u20293\u00854\u000B5\u000C6', 'x', '0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'
    )
);
update made set id = (answer ->> 'target_file_id')::uuid;

select is(answer ->> 'status', 'ok', name || ': status') from made order by name collate "C";
select is(
    (select array_agg(k order by k collate "C") from jsonb_object_keys(answer) as k),
    array[
        'active_editing_cycle_id', 'current_hash', 'filename', 'source_line_endings', 'status',
        'target_file_id', 'target_type', 'version'
    ],
    'exactly the tool''s fields'
) from made where name = 'named';
select is(answer -> 'version', '0', 'version 0') from made where name = 'named';
select is(answer ->> 'filename', 'doc.md', 'filename') from made where name = 'named';
select is(answer ->> 'target_type', 'text/markdown', 'a given content_type') from made where name = 'named';
select is(answer ->> 'target_type', 'text/plain', 'text/plain when none is given') from made where name = 'lf';
select matches(
    answer ->> 'target_file_id', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 'target_file_id is canonical'
) from made where name = 'named';
select matches(
    answer ->> 'active_editing_cycle_id', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    'active_editing_cycle_id is canonical'
) from made where name = 'named';
select is(
    answer ->> 'current_hash', 'ea7fb08b7a2dc4619ffb7c7bb38d95a2047935fa165d71b12efd3852a2e6d0cc',
    name || ': current_hash is that of the LF text'
) from made where name in ('lf', 'named') order by name collate "C";
select is(
    answer ->> 'current_hash', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'current_hash of an empty text'
) from made where name = 'empty';
select is(
    answer -> 'source_line_endings',
    '{
        "style": "crlf", "lf": 0, "crlf": 2, "cr": 0, "normalized": true,
        "source_code_points": 7, "source_utf8_bytes": 7,
        "source_sha256": "d37a6c0b581046eec04a3d815bcd9fadbce89bd21784279deff41836a766d570"
    }'::jsonb,
    'line endings of a CRLF upload'
) from made where name = 'named';
select is(
    answer -> 'source_line_endings' ->> 'source_sha256', answer ->> 'current_hash',
    'an LF upload''s own hash is the canonical one'
) from made where name = 'lf';

select is(t.current_content, E'a\nb\nc', m.name || ': stored with LF')
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id
where m.name in ('lf', 'named') order by m.name collate "C";
select is(t.current_content, E'\n\n\n\n', 'each lone CR and each pair is one LF')
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id where m.name = 'mixed';
select is(
    t.current_content, E'\uFEFF1\u20282\u20293\u00854\u000B5\u000C6', 'all else is stored unchanged'
)
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id where m.name = 'other';
select is(
    (t.content_code_points, t.content_utf8_bytes, t.source_line_endings ->> 'style')::text, '(12,19,none)',
    'U+FEFF and the other separators count as characters, not as line ends'
)
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id where m.name = 'other';
select is((t.content_code_points, t.version)::text, '(0,0)', 'an empty target')
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id where m.name = 'empty';
select is(t.project_id, '0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'::uuid, m.name || ': project_id in any case')
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id
where m.name in ('named', 'other') order by m.name collate "C";
select is(t.project_id, null, m.name || ': no project')
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id
where m.name in ('empty', 'lf') order by m.name collate "C";
select is(t.source_line_endings, m.answer -> 'source_line_endings', 'the recorded facts are the answered ones')
from made as m inner join patchdiff.cloud_target_files as t on m.id = t.target_file_id where m.name = 'mixed';

select results_eq(
    $$select c.editing_cycle_id::text, c.opened_version, c.closed_at, c.closed_version
      from patchdiff.editing_cycles c join made m on m.id = c.target_file_id where m.name = 'named'$$,
    $$select answer ->> 'active_editing_cycle_id', 0::bigint, null::timestamptz, null::bigint
      from made where name = 'named'$$,
    'one cycle, open, and the active one'
);
select results_eq(
    $$select s.snapshot_reason, s.version, s.content, s.content_hash, s.editing_cycle_id::text
      from patchdiff.target_snapshots s join made m on m.id = s.target_file_id where m.name = 'named'$$,
    $$select 'initial'::text, 0::bigint, E'a\nb\nc' collate "C", answer ->> 'current_hash',
      answer ->> 'active_editing_cycle_id' from made where name = 'named'$$,
    'one snapshot, initial, of the LF text'
);
select is_empty(
    $$select from patchdiff.append_only_pdcp_logs where target_file_id in (select id from made)$$,
    'no attempt is logged'
);
select is_empty(
    $$select from patchdiff.manifest_ledger where target_file_id in (select id from made)$$,
    'no ledger row is written'
);

create temp table before as select count(*) as targets from patchdiff.cloud_target_files;
create temp table refused (name text, answer jsonb);
insert into refused
values
('filename null', patchdiff.initialize_target(null, 'x')),
('filename empty', patchdiff.initialize_target('', 'x')),
('content null', patchdiff.initialize_target('f', null)),
('content_type null', patchdiff.initialize_target('f', 'x', null)),
('project_id words', patchdiff.initialize_target('f', 'x', project_id => 'project')),
('project_id empty', patchdiff.initialize_target('f', 'x', project_id => '')),
('project_id bare', patchdiff.initialize_target('f', 'x', project_id => '0e66cb5c0e664a5c8b5c0e66cb5c0e66')),
(
    'project_id braced',
    patchdiff.initialize_target('f', 'x', project_id => '{0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66}')
),
(
    'project_id with a line end',
    patchdiff.initialize_target('f', 'x', project_id => E'0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66\n')
);
select is(answer ->> 'status', 'invalid_argument', name) from refused;
select ok(
    answer ->> 'failure_detail' like split_part(name, ' ', 1) || ' must be %',
    'the detail names ' || split_part(name, ' ', 1)
) from refused where name like '%null';
select results_eq(
    'select count(*) from patchdiff.cloud_target_files', 'select targets from before', 'no target was made'
);

select * from finish();
rollback;
