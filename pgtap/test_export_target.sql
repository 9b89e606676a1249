-- req: EOL-017, EOL-018, EOL-019, EOL-020, EOL-021, EOL-022, EOL-023, EOL-024, EOL-025, EOL-026, EOL-027
-- req: EOL-028, EOL-029, EOL-031, EOL-032, EOL-033, EOL-034, EOL-035, EOL-036, SQL-008
begin;
select plan(42);

select has_function('patchdiff', 'export_target', array['text', 'text'], 'signature');
select function_returns('patchdiff', 'export_target', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'export_target', 'plpgsql', 'language');
select volatility_is('patchdiff', 'export_target', 'stable', 'it reads');
select is_definer('patchdiff', 'export_target', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'export_target', array['text', 'text'], 'patchdiff_editor', array['EXECUTE'],
    'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'export_target', array['text', 'text'], 'patchdiff_reader', array['EXECUTE'],
    'the reader may call it'
);
select ok(not has_function_privilege('public', 'patchdiff.export_target(text, text)', 'execute'), 'PUBLIC may not');

create temp table made as
select u.name, patchdiff.initialize_target('f.txt', u.content, 'text/x') ->> 'target_file_id' as id
from (
    values ('none', 'ab'), ('lf', E'a\nb'), ('crlf', E'a\r\nb'), ('cr', E'a\rb'), ('mixed', E'a\r\nb\n')
) as u (name, content);
create temp view export as
select
    m.name, f.format, m.name || ' as ' || f.format as what,
    patchdiff.export_target(target_file_id => m.id, format => f.format) as answer
from made as m
cross join (values ('original_text'), ('canonical_lf'), ('crlf'), ('original_eol')) as f (format);

select is(
    (select array_agg(k order by k collate "C") from jsonb_object_keys(answer) as k),
    array[
        'content', 'content_eol', 'content_sha256', 'content_type', 'current_hash', 'filename', 'format', 'hash',
        'source_line_endings', 'status', 'target_type', 'version'
    ],
    'exactly the tool''s fields'
) from export where what = 'crlf as original_eol';
select is(
    answer - 'source_line_endings',
    '{
        "status": "ok", "filename": "f.txt", "content": "a\r\nb", "content_type": "text/x", "target_type": "text/x",
        "content_eol": "crlf", "version": 0, "format": "original_eol",
        "content_sha256": "18745f36a05e29072709042d6062ce54f1b08ff36c27ba80c39f81fb010c8ce2",
        "hash": "7e18f737311b2dc3b2f269dd78396b0351f14fb66efa879f768cb23181883c78",
        "current_hash": "7e18f737311b2dc3b2f269dd78396b0351f14fb66efa879f768cb23181883c78"
    }'::jsonb,
    'a CRLF upload comes back as it was sent'
) from export where what = 'crlf as original_eol';
select is(
    answer -> 'source_line_endings' ->> 'source_sha256', answer ->> 'content_sha256', 'and has the upload''s hash'
) from export where what = 'crlf as original_eol';

select is((answer ->> 'content', answer ->> 'content_eol')::text, expected::text, what)
from export
inner join (
    values
    ('none as original_text', ('ab', 'lf')),
    ('none as canonical_lf', ('ab', 'lf')),
    ('none as crlf', ('ab', 'crlf')),
    ('none as original_eol', ('ab', 'lf')),
    ('lf as original_text', (E'a\nb', 'lf')),
    ('lf as canonical_lf', (E'a\nb', 'lf')),
    ('lf as crlf', (E'a\r\nb', 'crlf')),
    ('lf as original_eol', (E'a\nb', 'lf')),
    ('crlf as original_text', (E'a\nb', 'lf')),
    ('crlf as canonical_lf', (E'a\nb', 'lf')),
    ('crlf as crlf', (E'a\r\nb', 'crlf')),
    ('cr as original_text', (E'a\nb', 'lf')),
    ('cr as canonical_lf', (E'a\nb', 'lf')),
    ('cr as crlf', (E'a\r\nb', 'crlf')),
    ('cr as original_eol', (E'a\rb', 'cr')),
    ('mixed as original_text', (E'a\nb\n', 'lf')),
    ('mixed as canonical_lf', (E'a\nb\n', 'lf')),
    ('mixed as crlf', (E'a\r\nb\r\n', 'crlf'))
) as e (what, expected) using (what);

select is(
    answer - 'failure_detail', '{"status": "invalid_argument", "code": "original_eol_unrecoverable"}',
    'a mixed upload has no one style'
) from export where what = 'mixed as original_eol';
select is_empty(
    $$select from export where answer ->> 'status' = 'ok' and answer ->> 'format' <> format$$,
    'format is echoed as asked'
);
select is(
    patchdiff.export_target(id) ->> 'format', 'original_text', 'original_text is the default'
) from made where name = 'lf';
select is(
    answer ->> 'content_sha256', 'af9081672dd5ef3247a30c2db5b0dafcc9bcf981a26aefb3c55d210d43fcc14e',
    'content_sha256 is that of the returned bytes'
) from export where what = 'cr as original_eol';

update patchdiff.cloud_target_files set current_content = E'a\nb\nc'
where target_file_id = (select m.id::uuid from made as m where m.name = 'cr');
select is(answer ->> 'content', E'a\rb\rc', 'later lines have the recorded style too')
from export where what = 'cr as original_eol';

update patchdiff.cloud_target_files set source_line_endings = null
where target_file_id = (select m.id::uuid from made as m where m.name = 'lf');
select is(
    answer - 'failure_detail', '{"status": "invalid_argument", "code": "source_line_endings_unknown"}',
    'without recorded facts there is no original style'
) from export where what = 'lf as original_eol';
select is(
    (answer ->> 'status', answer -> 'source_line_endings')::text, '(ok,null)', 'but the other formats work'
) from export where what = 'lf as crlf';

select is(
    patchdiff.export_target(m.id, f.format) - 'failure_detail',
    '{
        "status": "invalid_argument", "code": "unsupported_export_format",
        "allowed_formats": ["original_text", "canonical_lf", "crlf", "original_eol"]
    }'::jsonb,
    'format ' || coalesce(f.format, 'null')
)
from made as m cross join (values ('CRLF'), (''), ('lf '), (null)) as f (format)
where m.name = 'crlf';
select is(
    patchdiff.export_target('00000000-0000-4000-8000-000000000000') ->> 'status', 'not_found', 'an unknown target'
);
select is(patchdiff.export_target('x') ->> 'code', 'invalid_target_id', 'a malformed id');

select * from finish();
rollback;
