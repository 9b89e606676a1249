-- req: REPL-025
begin;
select plan(15);

select make_history('_cycle_failures');

select is(patchdiff._cycle_failures(pg_temp.id()::uuid), '[]', 'an intact history has no failure');
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$delete from patchdiff.editing_cycles where target_file_id = <t> and closed_at is null$q$,
        'active_cycle_missing', 'the open cycle removed'
    ),
    (
        $q$delete from patchdiff.editing_cycles where target_file_id = <t> and closed_at is not null$q$,
        'opened_version_differs', 'the closed cycle removed'
    ),
    (
        $q$delete from patchdiff.editing_cycles where target_file_id = <t>$q$,
        'active_cycle_missing', 'all cycles removed'
    ),
    (
        $q$target: active_editing_cycle_id = (select c.editing_cycle_id
            from patchdiff.editing_cycles as c
            where c.target_file_id = <t> and c.closed_at is not null)$q$,
        'active_cycle_closed, open_cycle_not_active', 'a closed cycle is the active one'
    ),
    (
        $q$target: active_editing_cycle_id = gen_random_uuid()$q$,
        'active_cycle_missing, open_cycle_not_active', 'the active one is none'
    ),
    (
        $q$cycle open: closed_at = opened_at + interval '1 hour', closed_version = 2$q$,
        'active_cycle_closed', 'no cycle is open'
    ),
    (
        $q$cycle open: opened_version = 0$q$,
        'opened_version_differs', 'opened at another version'
    ),
    (
        $q$cycle open: opened_version = 9$q$,
        'closed_version_differs, opened_version_differs', 'opened at a version to come'
    ),
    (
        $q$cycle closed: opened_version = 1$q$,
        'opened_version_differs', 'the first was not opened at version 0'
    ),
    (
        $q$cycle closed: closed_version = 0$q$,
        'opened_version_differs', 'closed at another version'
    ),
    (
        $q$cycle closed: closed_at = closed_at + interval '1 microsecond'$q$,
        'times_out_of_order', 'opened before the one before it was closed'
    ),
    (
        $q$cycle closed: closed_at = opened_at - interval '1 microsecond'$q$,
        'times_out_of_order', 'closed before it was opened'
    ),
    (
        $q$insert into patchdiff.editing_cycles
            values (<t>, gen_random_uuid(), now() - interval '1 day', 0, now() - interval '1 hour', 0)$q$,
        null, 'a cycle in which nothing happened'
    )
) as t (statement, expected, what);
-- two open cycles, once nothing prevents them
drop index patchdiff.editing_cycles_one_open;
select is(
    pg_temp.after(
        $q$insert into patchdiff.editing_cycles (target_file_id, editing_cycle_id, opened_at, opened_version)
        values (<t>, gen_random_uuid(), clock_timestamp(), 1)$q$
    ),
    'open_cycle_not_active, opened_version_differs', 'a second open cycle'
);

select * from finish();
rollback;
