begin;
select plan(4);
select is(patchdiff._record_functions(repeat('a', 64)), true, 'another set than before');
select is(patchdiff._record_functions(repeat('a', 64)), false, 'the same set again');
select is((select count(*) from patchdiff.schema_functions), 1::bigint, 'one row is kept');
select is((select sha256 from patchdiff.schema_functions), repeat('a', 64), 'the newest');
select * from finish();
rollback;
