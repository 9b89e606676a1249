-- req: REPL-008
begin;
select plan(15);
create temp table made as
select patchdiff.initialize_target('f', 'zero') ->> 'target_file_id' as target;
select patchdiff.submit_replacement(m.target, 'i', n.text, expected_target_version => n.version) ->> 'status' as submitted
from made as m cross join (values ('one', 0), ('rejected', 0), ('two', 1)) as n (text, version);
select patchdiff.save(m.target) ->> 'status' as saved from made as m;
select patchdiff.submit_replacement(m.target, 'i', 'three', expected_target_version => 2) ->> 'status' as submitted
from made as m;
create function pg_temp.replayed(at_version bigint, until_version bigint default null) returns text language sql as $$
    select concat_ws(
        ' ', r.content, r.version, r.replayed, r.content_hash = patchdiff._sha256_hex(r.content), r.failure ->> 'code',
        (
            select l.after_version from patchdiff.append_only_pdcp_logs as l
            where l.target_file_id = m.target::uuid and l.log_sequence = (r.failure ->> 'log_sequence')::bigint
        )
    )
    from made as m
    left join patchdiff.target_snapshots as s on s.target_file_id = m.target::uuid and s.version = replayed.at_version
    cross join lateral patchdiff._replay(m.target::uuid, s, replayed.until_version) as r
$$;
select is(pg_temp.replayed(0), 'three 3 3 t', 'from the initial snapshot, across a save, rejections not counted');
select is(pg_temp.replayed(2), 'three 3 1 t', 'from a later snapshot');
select is(pg_temp.replayed(0, 0), 'zero 0 0 t', 'not at all');
select is(pg_temp.replayed(0, 1), 'one 1 1 t', 'up to a version');
select is(pg_temp.replayed(0, 3), 'three 3 3 t', 'up to the last');
select is(pg_temp.replayed(0, 9), 'three 3 3 t', 'and no further than there is');
select is(pg_temp.replayed(1), '0 snapshot_missing', 'without a snapshot');

alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
-- one target's rows under their tables' names, to be tampered with
create temp view cloud_target_files as
select t.* from patchdiff.cloud_target_files as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view target_snapshots as
select t.* from patchdiff.target_snapshots as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view append_only_pdcp_logs as
select t.* from patchdiff.append_only_pdcp_logs as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view manifest_ledger as
select t.* from patchdiff.manifest_ledger as t where t.target_file_id = (select m.target::uuid from made as m);
create function pg_temp.after(change text) returns text language plpgsql as $$
begin
    execute change;
    raise exception using message = pg_temp.replayed(0);
exception
    when raise_exception then
        return sqlerrm;
end
$$;
select is(pg_temp.after(c.change), c.expected, c.change)
from (
    values
    ($$update pg_temp.target_snapshots set content = 'zer0' where version = 0$$, '0 snapshot_altered'),
    ($$update pg_temp.target_snapshots set content_hash = 'x' where version = 0$$, '0 snapshot_altered'),
    ($$update pg_temp.target_snapshots set content = 'zer0', content_hash = patchdiff._sha256_hex('zer0')
       where version = 0$$, 'zer0 0 0 t record_missing 1'),
    ($$update pg_temp.append_only_pdcp_logs set before_version = 7 where after_version = 2$$,
     'one 1 1 t record_missing 2'),
    ($$update pg_temp.append_only_pdcp_logs set before_hash = 'x' where after_version = 2$$,
     'one 1 1 t record_missing 2'),
    ($$update pg_temp.append_only_pdcp_logs set after_hash = 'x' where after_version = 2$$,
     'one 1 1 t result_differs 2'),
    ($$update pg_temp.append_only_pdcp_logs set after_version = 9 where after_version = 2$$,
     'one 1 1 t record_missing 3')
) as c (change, expected);
select is(
    pg_temp.after($$
        with gone as (delete from pg_temp.append_only_pdcp_logs where after_version = 2 returning pdcp_log_id)
        delete from pg_temp.manifest_ledger where pdcp_log_id in (select pdcp_log_id from gone)
    $$),
    'one 1 1 t record_missing 3', 'a row in the middle is gone'
);
select * from finish();
rollback;
