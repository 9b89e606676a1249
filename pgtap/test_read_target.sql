-- req: READ-001, READ-002, READ-003, READ-006, READ-007, READ-008, READ-009, READ-010, READ-011, READ-012
-- req: READ-013, READ-014, READ-015, READ-016, READ-017, SQL-008
begin;
select plan(40);

select has_function('patchdiff', 'read_target', array['text', 'bigint', 'bigint'], 'signature');
select function_returns('patchdiff', 'read_target', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'read_target', 'plpgsql', 'language');
select volatility_is('patchdiff', 'read_target', 'stable', 'it reads');
select is_definer('patchdiff', 'read_target', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'read_target', array['text', 'bigint', 'bigint'], 'patchdiff_editor', array['EXECUTE'],
    'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'read_target', array['text', 'bigint', 'bigint'], 'patchdiff_reader', array['EXECUTE'],
    'the reader may call it'
);
select ok(
    not has_function_privilege('public', 'patchdiff.read_target(text, bigint, bigint)', 'execute'), 'PUBLIC may not'
);

create temp table made as
select u.name, u.content, patchdiff.initialize_target('f', u.content) ->> 'target_file_id' as id
from (
    values
    ('ascii', repeat('0123456789', 820)),
    ('astral', repeat(E'\U0001F600\u00E9x', 3000)),
    ('empty', ''),
    ('small', 'abcdef')
) as u (name, content);

select is(
    patchdiff.read_target(target_file_id => id, start => 2, length => 3),
    jsonb_build_object(
        'status', 'ok', 'target_file_id', id, 'version', 0,
        'current_hash', 'bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721',
        'start', 2, 'end', 5, 'text', 'cde', 'total_chars', 6, 'truncated', true, 'next_start', 5
    ),
    'exactly the tool''s fields'
) from made where name = 'small';
select is(
    patchdiff.read_target(id, 4, 2) @> '{"start": 4, "end": 6, "text": "ef", "truncated": false, "next_start": null}',
    true, 'a page to the very end is the last one'
) from made where name = 'small';
select is(
    patchdiff.read_target(id, 6) @> '{"start": 6, "end": 6, "text": "", "truncated": false, "next_start": null}',
    true, 'a start at the total is an empty last page'
) from made where name = 'small';
select is(
    patchdiff.read_target(id) @> '{"start": 0, "end": 0, "text": "", "total_chars": 0, "truncated": false}',
    true, 'an empty target'
) from made where name = 'empty';

select is(
    (p.answer ->> 'text', p.answer ->> 'end', p.answer ->> 'total_chars')::text,
    (substr(m.content, 1, p.expected), p.expected, length(m.content))::text,
    m.name || ': length ' || coalesce(p.asked, 'omitted') || ' reads ' || p.expected
)
from made as m
cross join lateral (
    values
    ('omitted', patchdiff.read_target(m.id), 4000),
    ('null', patchdiff.read_target(m.id, 0, null), 4000),
    ('1', patchdiff.read_target(m.id, 0, 1), 1),
    ('8000', patchdiff.read_target(m.id, 0, 8000), 8000),
    ('8001', patchdiff.read_target(m.id, 0, 8001), 8000),
    ('2^63-1', patchdiff.read_target(m.id, 0, 9223372036854775807), 8000)
) as p (asked, answer, expected)
where m.name in ('ascii', 'astral');

select is(
    patchdiff.read_target(id, 4, 4) ->> 'text', E'\u00E9x\U0001F600\u00E9', 'an astral character counts 1'
) from made where name = 'astral';
select is(
    patchdiff.read_target(id, 8999, 4) @> '{"text": "x", "end": 9000, "truncated": false}', true,
    'the last character of a text beyond ASCII'
) from made where name = 'astral';
select is(
    (
        with recursive pages (answer, number) as (
            select patchdiff.read_target(m.id, 0, 7), 1
            union all
            select patchdiff.read_target(m.id, (p.answer ->> 'next_start')::bigint, 7), p.number + 1
            from pages as p where p.answer ->> 'next_start' is not null and p.number < 2000
        )

        select string_agg(p.answer ->> 'text', '' order by p.number) from pages as p
    ),
    m.content, m.name || ': the pages joined are the text'
) from made as m order by m.name collate "C";

select is(patchdiff.read_target(m.id, r.start, r.length) ->> 'status', 'invalid_argument', r.what)
from made as m
cross join (
    values
    ('start null', null, 1),
    ('start negative', -1, 1),
    ('start one past the total', 7, 1),
    ('start far past the total', 9223372036854775807, 1),
    ('length 0', 0, 0),
    ('length negative', 0, -5)
) as r (what, start, length)
where m.name = 'small';
select is(
    patchdiff.read_target(id, 7) ->> 'failure_detail',
    'start must be at most the text''s 6 code points: it is 7.', 'the detail names the bound and the value'
) from made where name = 'small';
select is(
    patchdiff.read_target('00000000-0000-4000-8000-000000000000') ->> 'status', 'not_found', 'an unknown target'
);
select is(patchdiff.read_target('x') ->> 'code', 'invalid_target_id', 'a malformed id');
select is(
    patchdiff.read_target('00000000-0000-4000-8000-000000000000', -1) ->> 'status', 'invalid_argument',
    'arguments are judged before the target is looked up'
);

select * from finish();
rollback;
