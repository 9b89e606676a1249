begin;
select plan(10);
create view patchdiff.of_another_version as select 1 as n;
create view patchdiff.upon_it as select v.n from patchdiff.of_another_version as v;
create temp view elsewhere as select 1 as n;
create function pg_temp.installed() returns text language sql as $$
    select f.sha256 from patchdiff.schema_functions as f
$$;
create function pg_temp.newest() returns integer language sql as $$
    select max(m.migration_number) from patchdiff.schema_migrations as m
$$;
select is(patchdiff._drop_views(pg_temp.newest(), pg_temp.installed())::text, '', 'the installed set is left alone');
select has_view('patchdiff', 'of_another_version', 'whatever else is there');
create function pg_temp.left_after(newest integer, sha256 text) returns text language plpgsql as $$
declare
    v_message text;
begin
    perform patchdiff._drop_views(newest, sha256);
    raise exception using errcode = 'ZZ001', message = (
        select count(*) from pg_class as c where c.relnamespace = 'patchdiff'::regnamespace and c.relkind = 'v'
    );
exception
    when sqlstate 'ZZ001' then
        get stacked diagnostics v_message = message_text;
        return v_message;
end
$$;
select is(pg_temp.left_after(pg_temp.newest(), repeat('0', 64)), '0', 'before another set all views go');
select is(pg_temp.left_after(pg_temp.newest() + 1, pg_temp.installed()), '0', 'and before a migration');
create temp view built_upon_it as select v.n from patchdiff.of_another_version as v;
select throws_like(
    format('select patchdiff._drop_views(%s, %L)', pg_temp.newest() + 1, pg_temp.installed()),
    'something else is built upon views of PatchDIFF: view %built_upon_it depends on view patchdiff.of_another_version',
    'what is built upon a view is named'
);
drop view pg_temp.built_upon_it;
create temp table kept as
select count(*) as n from pg_class as c where c.relnamespace = 'patchdiff'::regnamespace and c.relkind in ('r', 'S');
select is(patchdiff._drop_views(pg_temp.newest() + 1, repeat('0', 64))::text, '', 'one upon another too');
select hasnt_view('patchdiff', 'of_another_version', 'it is gone');
select has_view('elsewhere', 'views of others stay');
select is(count(*), (select k.n from kept as k), 'tables and sequences stay') from pg_class as c
where c.relnamespace = 'patchdiff'::regnamespace and c.relkind in ('r', 'S');
select is(patchdiff._drop_views(pg_temp.newest() + 1, repeat('0', 64))::text, '', 'no view is no matter');
select * from finish();
rollback;
