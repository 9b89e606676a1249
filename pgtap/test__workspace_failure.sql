-- req: WORK-032, WORK-033, WORK-048
begin;
select plan(9);
create temp table made on commit drop as
select
    (patchdiff.initialize_workspace_target('f', 'x', 'text/plain', null, 5, 18446744073709551615)
        ->> 'target_file_id')::uuid as bound,
    (patchdiff.initialize_target('f', 'x') ->> 'target_file_id')::uuid as unbound;
create function pg_temp.judged(target uuid, device numeric, inode numeric, export jsonb) returns text
language sql as $$
    select coalesce(f ->> 'failure_reason', 'none') || coalesce(' ' || (f ->> 'code'), '')
    from patchdiff._workspace_failure(target, device, inode, export) as f
$$;
select is(
    pg_temp.judged(case c.target when 'bound' then m.bound when 'unbound' then m.unbound end, c.device, c.inode, c.export),
    c.expected, format('%s at %s %s, %s', c.target, c.device, c.inode, c.export)
)
from made as m
cross join (
    values
    ('bound', 5, 18446744073709551615, '{"status": "ok"}'::jsonb, 'none'),
    ('bound', 6, 18446744073709551615, '{"status": "ok"}', 'workspace_root_mismatch workspace_root_mismatch'),
    ('bound', 5, 18446744073709551614, '{"status": "ok"}', 'workspace_root_mismatch workspace_root_mismatch'),
    ('unbound', 6, 7, '{"status": "ok"}', 'none'),
    ('unbound', 6, 7, '{"status": "invalid_argument", "code": "c"}', 'c c'),
    ('bound', 5, 18446744073709551615, '{"status": "invalid_argument", "code": "c"}', 'c c'),
    ('bound', 6, 7, '{"status": "invalid_argument", "code": "c"}', 'workspace_root_mismatch workspace_root_mismatch'),
    ('null', 6, 7, '{"status": "ok"}', 'none')
) as c (target, device, inode, export, expected);
select ok(
    (
        select f ->> 'failure_detail' ~ '^[A-Z].*\.$'
        from made as m, patchdiff._workspace_failure(m.bound, 6, 7, '{"status": "ok"}') as f
    ),
    'in a sentence'
);
select * from finish();
rollback;
