-- req: READ-018, READ-019, READ-020, READ-021, READ-022, READ-023, READ-024, READ-025, READ-026, READ-027
-- req: READ-028, READ-029, READ-030, READ-031, READ-032, READ-033, READ-034, READ-035, READ-036, READ-037
-- req: READ-038, READ-039, READ-040, READ-041, READ-042, READ-043, READ-046, READ-047, READ-048, READ-050
-- req: READ-053, READ-054, READ-055, SQL-008
begin;
select plan(65);

select has_function(
    'patchdiff', 'read_lines', array['text', 'bigint', 'bigint', 'bigint', 'bigint', 'boolean'], 'signature'
);
select function_returns('patchdiff', 'read_lines', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'read_lines', 'plpgsql', 'language');
select volatility_is('patchdiff', 'read_lines', 'stable', 'it reads');
select is_definer('patchdiff', 'read_lines', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'read_lines', array['text', 'bigint', 'bigint', 'bigint', 'bigint', 'boolean'],
    'patchdiff_editor', array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'read_lines', array['text', 'bigint', 'bigint', 'bigint', 'bigint', 'boolean'],
    'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
select ok(
    not has_function_privilege(
        'public', 'patchdiff.read_lines(text, bigint, bigint, bigint, bigint, boolean)', 'execute'
    ),
    'PUBLIC may not'
);

create temp table made as
select u.name, u.content, patchdiff.initialize_target('f', u.content) ->> 'target_file_id' as id
from (
    values
    ('three', E'ab\ncd\n\U0001F600f'),
    ('closed', E'a\nb\n'),
    ('empty', ''),
    ('one', E'1\u20282\u00853\u000B4\u000C5'),
    ('long', repeat('0123456789' || E'\n', 1000)),
    ('wide', repeat(E'\u4E2D\u6587' || E'\n', 3000))
) as u (name, content);
create function pg_temp.lines(
    target text, start_line bigint default 1, end_line bigint default null, "offset" bigint default 0,
    max_chars bigint default null, include_line_starts boolean default false
) returns jsonb language sql as $$
    select patchdiff.read_lines(m.id, $2, $3, $4, $5, $6) from made as m where m.name = $1
$$;

-- whole answers
select is(
    patchdiff.read_lines(
        target_file_id => id, start_line => 2, end_line => 2, "offset" => 1, max_chars => 1,
        include_line_starts => false
    ),
    jsonb_build_object(
        'status', 'ok', 'target_file_id', id, 'version', 0,
        'current_hash', 'b15e4521dbc38462559d3d9cbb01ceea94cb2ded480cc8a3bb3a39a03361c32d',
        'total_chars', 8, 'total_lines', 3, 'start_line', 2, 'end_line', 2, 'range_start', 3, 'range_end', 6,
        'start', 4, 'end', 5, 'text', 'd', 'truncated', true, 'next_offset', 2, 'next_start', 5
    ),
    'exactly the tool''s fields'
) from made where name = 'three';
select is(
    pg_temp.lines('three') - array['status', 'target_file_id', 'version', 'current_hash'],
    '{
        "total_chars": 8, "total_lines": 3, "start_line": 1, "end_line": 3, "range_start": 0, "range_end": 8,
        "start": 0, "end": 8, "text": "ab\ncd\n\ud83d\ude00f", "truncated": false, "next_offset": null,
        "next_start": null
    }'::jsonb,
    'all lines without arguments'
);

-- lines
select is(pg_temp.lines(r.name, r.first, r.last) ->> 'text', r.expected, r.what)
from (
    values
    ('three', 1, 1, E'ab\n', 'the first line with its LF'),
    ('three', 2, 2, E'cd\n', 'the second line with its LF'),
    ('three', 3, 3, E'\U0001F600f', 'the last line has none'),
    ('three', 2, null, E'cd\n\U0001F600f', 'from the second to the last'),
    ('three', 1, 2, E'ab\ncd\n', 'the first two'),
    ('closed', 3, 3, '', 'the empty last line after a trailing LF'),
    ('closed', 2, 3, E'b\n', 'the line before it and it'),
    ('empty', 1, 1, '', 'the one line of an empty text'),
    ('one', 1, 1, E'1\u20282\u00853\u000B4\u000C5', 'only LF ends a line')
) as r (name, first, last, expected, what);
select is(
    (a -> 'total_lines', a -> 'end_line', a -> 'range_start', a -> 'range_end')::text, r.expected, r.what
)
from (
    values
    ('three', 2, '(3,3,3,8)', 'a range to the last line'),
    ('closed', 1, '(3,3,0,4)', 'a trailing LF makes a line more'),
    ('empty', 1, '(1,1,0,0)', 'an empty text has one line'),
    ('one', 1, '(1,1,0,9)', 'other separators make none')
) as r (name, first, expected, what)
cross join lateral pg_temp.lines(r.name, r.first) as a;

-- pages
select is(
    (length(a ->> 'text'), a -> 'end', a -> 'truncated', a -> 'next_offset', a -> 'next_start')::text,
    r.expected, r.name || ': ' || r.what
)
from (
    values
    ('long', 1, 0, null, '(4000,4000,true,4000,4000)', 'max_chars null'),
    ('long', 1, 0, 8000, '(8000,8000,true,8000,8000)', 'max_chars 8000'),
    ('long', 1, 0, 8001, '(8000,8000,true,8000,8000)', 'max_chars 8001'),
    ('long', 1, 0, 1, '(1,1,true,1,1)', 'max_chars 1'),
    ('long', 1, 7000, null, '(4000,11000,false,null,null)', 'the rest exactly'),
    ('long', 1, 6999, null, '(4000,10999,true,10999,10999)', 'one code point left'),
    ('long', 2, 0, 5, '(5,16,true,5,16)', 'next_offset counts from the range'),
    ('long', 2, 10989, null, '(0,11000,false,null,null)', 'offset at the range''s length'),
    ('wide', 1, 0, null, '(4000,4000,true,4000,4000)', 'max_chars null'),
    ('wide', 1, 0, 8001, '(8000,8000,true,8000,8000)', 'max_chars 8001'),
    ('wide', 2, 0, 5, '(5,8,true,5,8)', 'next_offset counts from the range')
) as r (name, first, "offset", max_chars, expected, what)
cross join lateral pg_temp.lines(r.name, r.first, null, r."offset", r.max_chars) as a;
select is(
    (
        with recursive pages (answer, number) as (
            select pg_temp.lines(m.name, 100, 300, 0, 97), 1
            union all
            select pg_temp.lines(m.name, 100, 300, (p.answer ->> 'next_offset')::bigint, 97), p.number + 1
            from pages as p where p.answer ->> 'next_offset' is not null and p.number < 2000
        )

        select string_agg(p.answer ->> 'text', '' order by p.number) from pages as p
    ),
    repeat(substr(m.content, 1, strpos(m.content, E'\n')), 201), m.name || ': the pages joined are the range'
) from made as m where m.name in ('long', 'wide') order by m.name collate "C";
select is(
    patchdiff.read_target(m.id, (pg_temp.lines('wide', 5, 9, 0, 7) ->> 'next_start')::bigint, 8) ->> 'text',
    pg_temp.lines('wide', 5, 9, 7, 8) ->> 'text', 'next_start continues in read_target'
) from made as m where m.name = 'wide';

-- line starts
select ok(not pg_temp.lines('three') ? 'line_starts', 'no line_starts unless asked for');
select is(pg_temp.lines(r.name, r.first, r.last, r."offset", r.max_chars, true) -> 'line_starts', r.expected::jsonb, r.what)
from (
    values
    (
        'three', 1, null, 0, null, '[{"line": 1, "start": 0}, {"line": 2, "start": 3}, {"line": 3, "start": 6}]',
        'every line of one page'
    ),
    ('three', 2, 2, 0, null, '[{"line": 2, "start": 3}]', 'none outside the range'),
    ('three', 1, null, 1, 3, '[{"line": 2, "start": 3}]', 'a page from mid-line does not list that line'),
    ('three', 1, null, 3, 3, '[{"line": 2, "start": 3}]', 'a line that begins at the page''s end is the next page''s'),
    ('three', 1, null, 1, 1, '[]', 'a page inside a line has none'),
    (
        'closed', 1, null, 0, null, '[{"line": 1, "start": 0}, {"line": 2, "start": 2}, {"line": 3, "start": 4}]',
        'the empty last line, on the last page'
    ),
    ('closed', 1, null, 2, 1, '[{"line": 2, "start": 2}]', 'not on the page before'),
    ('closed', 1, 2, 2, null, '[{"line": 2, "start": 2}]', 'not when it is outside the range'),
    ('closed', 1, null, 4, null, '[{"line": 3, "start": 4}]', 'on an empty last page'),
    ('closed', 3, null, 0, null, '[{"line": 3, "start": 4}]', 'alone'),
    ('empty', 1, null, 0, null, '[{"line": 1, "start": 0}]', 'the line of an empty text'),
    ('wide', 2000, 2001, 1, 4, '[{"line": 2001, "start": 6000}]', 'absolute code points')
) as r (name, first, last, "offset", max_chars, expected, what);

-- storage as it is
update patchdiff.cloud_target_files set current_content = E'a\rb\r\nc'
where target_file_id = (select m.id::uuid from made as m where m.name = 'closed');
select is(
    (a ->> 'text', a -> 'total_lines')::text, (E'a\rb\r\nc', 2)::text,
    'a stray CR in storage is neither repaired nor a line end'
) from pg_temp.lines('closed') as a;

-- refusals
select is(
    a - 'failure_detail', '{"status": "invalid_argument"}', r.what
)
from (
    values
    ('start_line null', null::bigint, null::bigint, 0::bigint, null::bigint, false),
    ('start_line 0', 0, null, 0, null, false),
    ('start_line one past the last', 4, null, 0, null, false),
    ('end_line 0', 1, 0, 0, null, false),
    ('end_line one past the last', 1, 4, 0, null, false),
    ('end_line below start_line', 3, 2, 0, null, false),
    ('offset null', 1, null, null, null, false),
    ('offset negative', 1, null, -1, null, false),
    ('offset one past the range''s length', 1, 1, 4, null, false),
    ('max_chars 0', 1, null, 0, 0, false),
    ('include_line_starts null', 1, null, 0, null, null)
) as r (what, first, last, "offset", max_chars, starts)
cross join lateral pg_temp.lines('three', r.first, r.last, r."offset", r.max_chars, r.starts) as a;
select is(
    pg_temp.lines('three', 1, 1, 4) ->> 'failure_detail', 'offset must be at most the range''s 3 code points: it is 4.',
    'the detail names the bound and the value'
);
select is(
    patchdiff.read_lines('00000000-0000-4000-8000-000000000000') ->> 'status', 'not_found', 'an unknown target'
);
select is(patchdiff.read_lines('x') ->> 'code', 'invalid_target_id', 'a malformed id');

select * from finish();
rollback;
