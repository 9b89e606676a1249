-- req: LOG-045, LEDG-032
begin;
select plan(8);
select has_function('patchdiff', '_refuse_change', array[]::text[]);
select function_returns('patchdiff', '_refuse_change', array[]::text[], 'trigger');
select trigger_is('patchdiff', t.name, 'append_only', 'patchdiff', '_refuse_change', t.name || ' has it as its trigger')
from (values ('append_only_pdcp_logs'), ('manifest_ledger')) as t (name);
-- it refuses whatever table it stands on, also where no row would be touched
create temp table kept (x integer) on commit drop;
create trigger append_only before update or delete or truncate on kept
for each statement execute function patchdiff._refuse_change();
select lives_ok('insert into kept values (1)', 'a row may be added');
select throws_ok('update kept set x = 2', 'PD010', 'kept is append-only: UPDATE is refused', 'none may be changed');
select throws_ok(
    'delete from kept where false', 'PD010', 'kept is append-only: DELETE is refused', 'nor removed, not even none'
);
select throws_ok('truncate kept', 'PD010', 'kept is append-only: TRUNCATE is refused', 'nor all');
select * from finish();
rollback;
