-- req: REPL-025
begin;
select plan(10);

select make_history('_replay_failures');

select is(patchdiff._replay_failures(pg_temp.id()::uuid), '[]', 'an intact history has no failure');
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$target: current_content = 'x'$q$,
        'content_differs, recomputed_hash_differs', 'another text'
    ),
    (
        $q$target: current_content = current_content || E'\r'$q$,
        'content_differs, recomputed_hash_differs', 'a longer text'
    ),
    (
        $q$target: current_hash = ''$q$,
        'stored_hash_differs', 'another hash'
    ),
    (
        $q$target: version = 7$q$,
        'version_differs', 'another version'
    ),
    (
        $q$log 1: pdcp_content = ''$q$,
        'record_altered at 1', 'a record that cannot be replayed'
    ),
    (
        $q$delete from patchdiff.target_snapshots where target_file_id = <t>$q$,
        'snapshot_missing', 'nothing to start from'
    ),
    (
        $q$ledger 3.1: derived = '"x"'$q$,
        'ledger_altered at 3', 'facts that are none'
    )
) as t (statement, expected, what);
select is(
    patchdiff._replay_failures('00000000-0000-4000-8000-000000000000') #>> '{0,code}', 'not_found',
    'a target that is not there'
);
-- whatever replay raises is a failure, not an error
create or replace function patchdiff.replay_spans(target_file_id text) returns jsonb language plpgsql as $$
begin
    raise exception 'broken %', 'down' using errcode = 'XX001';
end
$$;
select is(
    patchdiff._replay_failures(pg_temp.id()::uuid),
    '[{"check": "replay", "code": "check_failed", "failure_detail": "broken down"}]', 'an error becomes a failure'
);

select * from finish();
rollback;
