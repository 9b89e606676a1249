begin;
select plan(12);
select has_function('patchdiff', 'target_text', array['text']);
select volatility_is('patchdiff', 'target_text', array['text'], 'stable');
select is_definer('patchdiff', 'target_text', array['text']);
select function_privs_are('patchdiff', 'target_text', array['text'], 'patchdiff_editor', array['EXECUTE']);
select function_privs_are('patchdiff', 'target_text', array['text'], 'patchdiff_reader', array['EXECUTE']);
select function_privs_are('patchdiff', 'target_text', array['text'], 'public', array[]::text[]);
create temporary table made on commit drop as
select patchdiff.initialize_target(filename => 'a', content => E'a\r\n😀') as answer;
create temporary table seen on commit drop as
select t.* from made, patchdiff.target_text(target_file_id => answer ->> 'target_file_id') as t;
select is((select current_content from seen), E'a\n😀', 'the canonical text');
select is((select version from seen), 0::bigint, 'its version');
select is((select current_hash from seen), (select answer ->> 'current_hash' from made), 'its hash');
select is((select refusal from seen), null, 'no refusal');
select is(
    (select refusal ->> 'code' from patchdiff.target_text('nonsense')), 'invalid_target_id', 'a malformed id'
);
select is(
    (select refusal ->> 'status' from patchdiff.target_text('00000000-0000-4000-8000-000000000000')),
    'not_found',
    'an unknown id'
);
select * from finish();
rollback;
