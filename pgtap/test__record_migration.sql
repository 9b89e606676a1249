begin;
select plan(2);
select is(patchdiff._record_migration(9000, '9000_example', repeat('a', 64))::text, '', 'records a migration');
select results_eq(
    $$ select migration_name, sha256 from patchdiff.schema_migrations where migration_number = 9000 $$,
    $$ values ('9000_example', repeat('a', 64)) $$,
    'under its number'
);
select * from finish();
rollback;
