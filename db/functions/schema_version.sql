create or replace function patchdiff.schema_version()
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_build_object(
        'migration', (select max(m.migration_number) from patchdiff.schema_migrations as m),
        'functions_sha256', (select f.sha256 from patchdiff.schema_functions as f)
    );
end
$function$;
comment on function patchdiff.schema_version() is
'What is installed here: the number of the newest migration, and the SHA-256 of the set of function files. Null
for what was not installed.';
revoke all on function patchdiff.schema_version() from public;
grant execute on function patchdiff.schema_version() to patchdiff_editor, patchdiff_reader;
