-- The log and the ledger are append-only for everybody, their owner included.

create function patchdiff._refuse_change() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
begin
    raise exception '% is append-only: % is refused', tg_table_name, tg_op
        using errcode = 'PD010',
        hint = 'Record a new attempt instead; recorded rows stay as they are.';
end
$function$;
comment on function patchdiff._refuse_change() is
'Trigger: refuses UPDATE, DELETE and TRUNCATE of an append-only table for every role. Raises PD010.';

create trigger append_only
before update or delete or truncate on patchdiff.append_only_pdcp_logs
for each statement execute function patchdiff._refuse_change();
comment on trigger append_only on patchdiff.append_only_pdcp_logs is
'Attempts are never changed and never removed.';

create trigger append_only
before update or delete or truncate on patchdiff.manifest_ledger
for each statement execute function patchdiff._refuse_change();
comment on trigger append_only on patchdiff.manifest_ledger is
'Ledger rows are never changed and never removed.';

-- also under session_replication_role = replica
alter table patchdiff.append_only_pdcp_logs enable always trigger append_only;
alter table patchdiff.manifest_ledger enable always trigger append_only;
