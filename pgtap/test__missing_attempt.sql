begin;
select plan(8);
create temp table made on commit drop as
select patchdiff.initialize_target('f', 'a') ->> 'target_file_id' as target;
select is(patchdiff._missing_attempt(m.target::uuid)::text, null, 'nothing is missing from an empty log') from made as m;
select patchdiff.submit_replacement(m.target, 'i', n.n::text, expected_target_version => n.version) ->> 'status' as submitted
from made as m cross join (values (1, 0), (2, 0), (3, 1), (4, 2)) as n (n, version);
create temp table log on commit drop as
select l.*, row_number() over (order by l.log_sequence) as n
from made as m
inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = m.target::uuid;
select is(patchdiff._missing_attempt(m.target::uuid)::text, null, 'nor from one with a rejection') from made as m;

alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
-- what _missing_attempt says once a row is gone
create function pg_temp.without(gone bigint) returns text language plpgsql as $$
declare
    v_found text;
begin
    delete from patchdiff.manifest_ledger as m using log as l where m.pdcp_log_id = l.pdcp_log_id and l.n = gone;
    delete from patchdiff.append_only_pdcp_logs as d using log as l where d.pdcp_log_id = l.pdcp_log_id and l.n = gone;
    select l.n::text into v_found
    from log as l
    where l.log_sequence = (select patchdiff._missing_attempt(m.target::uuid) from made as m);
    raise exception using message = coalesce(v_found, 'null');
exception
    when raise_exception then
        return sqlerrm;
end
$$;
select is(pg_temp.without(1), '2', 'the first row: its successor does not begin the chain');
select is(pg_temp.without(2), '3', 'a rejected row in the middle');
select is(pg_temp.without(3), '4', 'an accepted row in the middle');
select is(pg_temp.without(4), '4', 'the last row: the target still names it');
select is(patchdiff._missing_attempt(m.target::uuid)::text, null, 'all of them are back') from made as m;
update patchdiff.append_only_pdcp_logs as l set row_hash = 'x' from log where l.log_sequence = log.log_sequence and log.n = 2;
select is(
    patchdiff._missing_attempt(m.target::uuid), (select l.log_sequence from log as l where l.n = 3),
    'a row put in the place of another'
) from made as m;
select * from finish();
rollback;
