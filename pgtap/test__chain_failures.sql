-- req: REPL-025
begin;
select plan(4);

select make_history('_chain_failures');

select is(patchdiff._chain_failures(pg_temp.id()::uuid), '[]', 'an intact history has no failure');
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$log 2: source = null$q$,
        'row_hash_differs at 2', 'the first row that does not fit'
    ),
    (
        $q$target: log_head_hash = ''$q$,
        'head_differs at 3', 'the head'
    )
) as t (statement, expected, what);
select is(
    patchdiff._chain_failures('00000000-0000-4000-8000-000000000000'), '[]', 'no target, no chain'
);

select * from finish();
rollback;
