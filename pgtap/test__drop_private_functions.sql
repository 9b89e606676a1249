begin;
select plan(6);
create function patchdiff._of_another_version() returns integer language sql as 'select 1';
create function patchdiff.of_the_interface() returns integer language sql as 'select 1';
select is(
    patchdiff._drop_private_functions((select f.sha256 from patchdiff.schema_functions as f))::text,
    '',
    'the installed set is left alone'
);
select has_function('patchdiff', '_of_another_version', 'whatever else is there');
select is(patchdiff._drop_private_functions(repeat('0', 64))::text, '', 'another set is made way for');
select hasnt_function('patchdiff', '_of_another_version', 'before another set the private functions go');
select has_function('patchdiff', 'of_the_interface', 'those of the interface stay');
select has_function('patchdiff', '_refuse_change', 'and so do those of triggers');
select * from finish();
rollback;
