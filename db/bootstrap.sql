-- Runs at the start of every installation and upgrade, in the caller's transaction and with the caller's
-- role. It changes nothing that is already as it should be. What follows it runs as patchdiff_owner.

-- One installer at a time in this database; the lock goes with the transaction.
select pg_catalog.pg_advisory_xact_lock(7034927701524);

do $bootstrap$
declare
    v_role text;
    v_missing text[] := '{}';
begin
    if pg_catalog.current_setting('server_version_num')::integer < 160000 then
        raise exception 'PostgreSQL % is too old: PatchDIFF needs version 16 or newer',
            pg_catalog.current_setting('server_version')
            using errcode = 'PD001', hint = 'Use a server of version 16 or newer.';
    end if;
    if pg_catalog.current_setting('server_encoding') <> 'UTF8' then
        raise exception 'the database has encoding %: PatchDIFF needs UTF8',
            pg_catalog.current_setting('server_encoding')
            using errcode = 'PD002',
            hint = 'Create a database with ENCODING ''UTF8'' (from template0) and use that one.';
    end if;

    foreach v_role in array array['patchdiff_owner', 'patchdiff_editor', 'patchdiff_reader'] loop
        if not exists (select from pg_catalog.pg_roles r where r.rolname = v_role) then
            v_missing := v_missing || v_role;
        end if;
    end loop;
    if v_missing <> '{}' and not (
        select r.rolsuper or r.rolcreaterole from pg_catalog.pg_roles r where r.rolname = current_user
    ) then
        raise exception 'roles are missing and % may not create them: %',
            current_user, pg_catalog.array_to_string(v_missing, ', ')
            using errcode = 'PD003',
            hint = pg_catalog.format(
                'A DBA must run: %s; grant patchdiff_owner to %I;%s',
                (select pg_catalog.string_agg('create role ' || m || ' nologin', '; ')
                 from pg_catalog.unnest(v_missing) as m),
                current_user,
                case
                    when not pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create')
                        then pg_catalog.format(
                            ' grant create on database %I to %I;', pg_catalog.current_database(), current_user
                        )
                end
            );
    end if;
    foreach v_role in array v_missing loop
        begin
            execute pg_catalog.format('create role %I nologin', v_role);
        exception
            -- roles belong to the whole cluster: another database's installer may have been quicker
            when duplicate_object or unique_violation then null;
        end;
    end loop;

    if not pg_catalog.pg_has_role(current_user, 'patchdiff_owner', 'set') then
        begin
            execute pg_catalog.format(
                'grant patchdiff_owner to %I with inherit true, set true', current_user
            );
        exception
            when insufficient_privilege then
                raise exception '% may not act as patchdiff_owner', current_user
                    using errcode = 'PD003',
                    hint = pg_catalog.format('A DBA must run: grant patchdiff_owner to %I;', current_user);
        end;
    end if;

    if not exists (select from pg_catalog.pg_namespace n where n.nspname = 'patchdiff') then
        if not pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create') then
            raise exception '% may not create a schema in database %',
                current_user, pg_catalog.current_database()
                using errcode = 'PD003',
                hint = pg_catalog.format(
                    'A DBA must run: grant create on database %I to %I;',
                    pg_catalog.current_database(), current_user
                );
        end if;
        create schema patchdiff authorization patchdiff_owner;
    end if;
end
$bootstrap$;

set local role patchdiff_owner;

comment on schema patchdiff is
'PatchDIFF: guarded, atomic, audited document edits. Everything of the product is in here.';
grant usage on schema patchdiff to patchdiff_editor, patchdiff_reader;
alter default privileges for role patchdiff_owner revoke execute on functions from public;
alter default privileges for role patchdiff_owner revoke usage on types from public;

do $ledger$
begin
    if to_regclass('patchdiff.schema_migrations') is null then
        create table patchdiff.schema_migrations (
            migration_number integer not null primary key check (migration_number > 0),
            migration_name text not null,
            sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
            applied_at timestamptz not null default pg_catalog.now()
        );
        comment on table patchdiff.schema_migrations is
        'The migrations that have run in this database, each exactly once.';
        comment on column patchdiff.schema_migrations.migration_number is
        'Number at the head of the migration''s file name.';
        comment on column patchdiff.schema_migrations.migration_name is 'File name without its ending.';
        comment on column patchdiff.schema_migrations.sha256 is
        'Lowercase hex SHA-256 of the file as it was run.';
        comment on column patchdiff.schema_migrations.applied_at is 'When it ran.';

        create table patchdiff.schema_functions (
            only_row boolean not null primary key default true check (only_row),
            sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
            applied_at timestamptz not null
        );
        comment on column patchdiff.schema_functions.only_row is 'Always true: holds the table to one row.';
        comment on column patchdiff.schema_functions.applied_at is
        'When this set was first installed here.';
    end if;
end
$ledger$;
comment on table patchdiff.schema_functions is
'Which set of function and view files is installed: one row.';
comment on column patchdiff.schema_functions.sha256 is
'Lowercase hex SHA-256 over the names and texts of all function and view files.';

create or replace function patchdiff._check_migrations(
    newest integer,
    known jsonb
) returns void
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_newest integer;
    v_changed text;
begin
    select max(m.migration_number) into v_newest from patchdiff.schema_migrations as m;
    if v_newest > newest then
        raise exception 'the schema is at migration %, newer than this version of PatchDIFF', v_newest
            using errcode = 'PD004', hint = 'Use the newer version of PatchDIFF.';
    end if;
    select m.migration_name into v_changed
    from patchdiff.schema_migrations as m
    where m.sha256 <> known ->> m.migration_number::text
    order by m.migration_number
    limit 1;
    if found then
        raise exception 'migration % ran here with another text than this version has', v_changed
            using errcode = 'PD005', hint = 'Use the version of PatchDIFF that ran it.';
    end if;
end
$function$;
comment on function patchdiff._check_migrations(integer, jsonb) is
'Compares the migrations that have run here with those of an installation: the number of its newest, and the
SHA-256 of each by number. Raises PD004 when the database is newer, PD005 when a text differs.';
revoke all on function patchdiff._check_migrations(integer, jsonb) from public;

create or replace function patchdiff._record_migration(
    migration_number integer,
    migration_name text,
    sha256 text
) returns void
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    insert into patchdiff.schema_migrations (migration_number, migration_name, sha256)
    values (
        _record_migration.migration_number, _record_migration.migration_name, _record_migration.sha256
    );
end
$function$;
comment on function patchdiff._record_migration(integer, text, text) is
'Records that a migration has run here, with the SHA-256 of its text.';
revoke all on function patchdiff._record_migration(integer, text, text) from public;

create or replace function patchdiff._record_functions(
    sha256 text
) returns boolean
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    insert into patchdiff.schema_functions as f (sha256, applied_at)
    values (_record_functions.sha256, now())
    on conflict (only_row) do update
    set sha256 = excluded.sha256, applied_at = excluded.applied_at
    where f.sha256 <> excluded.sha256;
    return found;
end
$function$;
comment on function patchdiff._record_functions(text) is
'Records which set of function and view files is installed here, by its SHA-256. True when it is another set than
before.';
revoke all on function patchdiff._record_functions(text) from public;

-- Private functions may change their signatures and results from version to version, which replacing cannot do.
create or replace function patchdiff._drop_private_functions(
    sha256 text
) returns void
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_function regprocedure;
begin
    if exists (
        select from patchdiff.schema_functions as f where f.sha256 = _drop_private_functions.sha256
    ) then
        return;
    end if;
    for v_function in
        select p.oid
        from pg_proc as p
        where
            p.pronamespace = 'patchdiff'::regnamespace
            and starts_with(p.proname, '_')
            and p.prorettype <> 'trigger'::regtype
            and p.proname not in (
                '_check_migrations', '_record_migration', '_record_functions', '_drop_private_functions',
                '_drop_views'
            )
    loop
        execute format('drop function %s', v_function);
    end loop;
end
$function$;
comment on function patchdiff._drop_private_functions(text) is
'Drops the private functions of another version before this version''s are made; does nothing when the installed
set has this SHA-256. Functions of triggers and of the installer stay.';
revoke all on function patchdiff._drop_private_functions(text) from public;

-- A view's columns may change from version to version, which replacing cannot do, and a table's column cannot
-- change while a view shows it.
create or replace function patchdiff._drop_views(
    newest integer,
    sha256 text
) returns void
language plpgsql
volatile
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_views text;
    v_dependents text;
begin
    if
        exists (select from patchdiff.schema_functions as f where f.sha256 = _drop_views.sha256)
        and exists (
            select from patchdiff.schema_migrations as m where m.migration_number = _drop_views.newest
        )
    then
        return;
    end if;
    select string_agg(c.oid::regclass::text, ', ')
    into v_views
    from pg_class as c
    where c.relnamespace = 'patchdiff'::regnamespace and c.relkind = 'v';
    if v_views is not null then
        execute format('drop view %s', v_views);
    end if;
exception
    when dependent_objects_still_exist then
        get stacked diagnostics v_dependents = pg_exception_detail;
        raise exception 'something else is built upon views of PatchDIFF: %',
            replace(v_dependents, chr(10), '; ')
            using errcode = 'dependent_objects_still_exist',
            hint = 'Drop it, install again, and make it anew.';
end
$function$;
comment on function patchdiff._drop_views(integer, text) is
'Drops the views of another version before this version''s migrations run and its views are made; they hold no data.
Does nothing when the installed set has this SHA-256 and the newest migration has run. Raises
dependent_objects_still_exist, naming them, when other objects are built upon the views.';
revoke all on function patchdiff._drop_views(integer, text) from public;
