begin;
select plan(11);
select has_function('patchdiff', 'schema_version', array[]::text[], 'signature');
select function_returns('patchdiff', 'schema_version', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'schema_version', 'plpgsql', 'language');
select volatility_is('patchdiff', 'schema_version', 'stable', 'it reads');
select is_definer('patchdiff', 'schema_version', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'schema_version', array[]::text[], 'patchdiff_editor', array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'schema_version', array[]::text[], 'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
select ok(not has_function_privilege('public', 'patchdiff.schema_version()', 'execute'), 'PUBLIC may not');

select is(
    patchdiff.schema_version(),
    jsonb_build_object(
        'migration', (select max(m.migration_number) from patchdiff.schema_migrations as m),
        'functions_sha256', (select f.sha256 from patchdiff.schema_functions as f)
    ),
    'the newest migration and the digest of the functions'
);
insert into patchdiff.schema_migrations (migration_number, migration_name, sha256)
values (9999, '9999_last', repeat('0', 64));
select is(patchdiff.schema_version() -> 'migration', '9999', 'the newest by number');
delete from patchdiff.schema_migrations;
delete from patchdiff.schema_functions;
select is(patchdiff.schema_version(), '{"migration": null, "functions_sha256": null}', 'nothing installed');
select * from finish();
rollback;
