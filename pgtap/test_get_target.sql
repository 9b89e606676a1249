-- req: LIFE-022, LIFE-023, LIFE-024, LIFE-025, LIFE-026, EOL-016, SQL-007, SQL-008
begin;
select plan(22);

select has_function('patchdiff', 'get_target', array['text'], 'signature');
select function_returns('patchdiff', 'get_target', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'get_target', 'plpgsql', 'language');
select volatility_is('patchdiff', 'get_target', 'stable', 'it reads');
select is_definer('patchdiff', 'get_target', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'get_target', array['text'], 'patchdiff_editor', array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'get_target', array['text'], 'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
select ok(not has_function_privilege('public', 'patchdiff.get_target(text)', 'execute'), 'PUBLIC may not');

create temp table made as
select patchdiff.initialize_target('a.md', E'\u4E2D\r\n' || repeat('x', 9000), 'text/markdown') as answer;
alter table made add column id text, add column read jsonb;
update made set id = answer ->> 'target_file_id';
update made set read = patchdiff.get_target(target_file_id => id);

select is(
    (select array_agg(k order by k collate "C") from jsonb_object_keys(read) as k),
    array[
        'active_editing_cycle_id', 'current_content', 'current_hash', 'filename', 'source_line_endings',
        'status', 'target_file_id', 'target_type', 'version'
    ],
    'exactly the tool''s fields'
) from made;
select is(read - 'current_content', answer, 'the initialization''s own facts') from made;
select is(read ->> 'current_content', E'\u4E2D\n' || repeat('x', 9000), 'the whole canonical text') from made;

create temp table called as
select w.what, patchdiff.get_target(w.given) as answer
from (
    select 'upper case' as what, upper(m.id) as given from made as m
    union all select 'no hyphens', replace(m.id, '-', '') from made as m
    union all select 'braced', '{' || m.id || '}' from made as m
    union all select 'padded', ' ' || m.id from made as m
    union all select 'a line end', m.id || E'\n' from made as m
    union all select 'words', 'no id'
    union all select 'null', null
) as w;
select is(answer ->> 'code', 'invalid_target_id', what) from called;
select is(count(*), 7::bigint, 'and each is invalid_argument with a detail') from called
where answer ->> 'status' = 'invalid_argument' and answer ->> 'failure_detail' <> '';

select is(
    patchdiff.get_target('00000000-0000-4000-8000-000000000000') - 'failure_detail',
    '{"status": "not_found"}', 'an unknown target'
);
select isnt(
    patchdiff.get_target('00000000-0000-4000-8000-000000000000') ->> 'failure_detail', null, 'says so in words'
);

update patchdiff.cloud_target_files set source_line_endings = null
where target_file_id = (select m.id::uuid from made as m);
select is(patchdiff.get_target(id) -> 'source_line_endings', 'null'::jsonb, 'unrecorded facts are null') from made;

select * from finish();
rollback;
