begin;
select plan(4);
create function pg_temp.known(changed jsonb default '{}') returns jsonb language sql as $$
    select jsonb_object_agg(migration_number, sha256) || known.changed from patchdiff.schema_migrations
$$;
select lives_ok($$ select patchdiff._check_migrations(9000, pg_temp.known()) $$, 'what has run here is known');
select lives_ok(
    $$ select patchdiff._check_migrations(9000, pg_temp.known('{"9000": "x"}')) $$, 'more may be known than has run'
);
select throws_ok(
    $$ select patchdiff._check_migrations(0, pg_temp.known()) $$, 'PD004', null, 'a database that is newer'
);
select throws_ok(
    $$ select patchdiff._check_migrations(9000, pg_temp.known('{"1": "x"}')) $$,
    'PD005',
    'migration 0001_tables ran here with another text than this version has',
    'a migration with another text'
);
select * from finish();
rollback;
