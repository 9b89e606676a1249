begin;
select plan(18);
select function_privs_are(
    'patchdiff', 'content_at', array['text', 'bigint'], 'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
create temp table made on commit drop as
select patchdiff.initialize_target('f', 'zéro') ->> 'target_file_id' as target;
select patchdiff.submit_spans(
    m.target, 'i', '[{"start": 0, "end": 4, "expected_text": "zéro", "replace": "one 😀\r\n"}]', 0
) ->> 'status' as submitted from made as m;
select patchdiff.save(m.target) ->> 'status' as saved from made as m;
select patchdiff.submit_spans(
    m.target, 'i', '[{"start": 4, "end": 5, "expected_text": "😀", "replace": "two"}]', 1
) ->> 'status' as submitted from made as m;
select patchdiff.submit_replacement(m.target, 'i', '', expected_target_version => 2) ->> 'status' as submitted
from made as m;
select is(patchdiff.content_at(m.target, v.version), v.content, 'version ' || v.version)
from made as m
cross join (values (0, 'zéro'), (1, E'one 😀\n'), (2, E'one two\n'), (3, '')) as v (version, content);

-- from the nearest snapshot: what lies before it may be damaged
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
update patchdiff.append_only_pdcp_logs as l set pdcp_content = 'x'
from made as m where l.target_file_id = m.target::uuid and l.after_version = 1;
select is(patchdiff.content_at(m.target, 2), E'one two\n', 'counted from the snapshot at version 1') from made as m;
select is(patchdiff.content_at(m.target, 1), E'one 😀\n', 'which is version 1') from made as m;
select is(patchdiff.content_at(m.target, 0), 'zéro', 'the initial snapshot is version 0') from made as m;
update patchdiff.append_only_pdcp_logs as l set pdcp_content = 'x'
from made as m where l.target_file_id = m.target::uuid and l.after_version = 2;
create function pg_temp.raised(target text, version bigint) returns text language plpgsql as $$
declare
    v_message text;
    v_hint text;
begin
    perform patchdiff.content_at(target, version);
    return 'nothing';
exception
    when others then
        get stacked diagnostics v_message = message_text, v_hint = pg_exception_hint;
        return sqlstate || ': ' || v_message || case when v_hint <> '' then '' else ' without a hint' end;
end
$$;
select is(pg_temp.raised(coalesce(r.target, m.target), r.version), r.expected, r.expected)
from made as m
cross join (
    values
    (null, 4, 'PD030: the target has no version 4'), (null, -1, 'PD030: the target has no version -1'),
    (null, null, 'PD030: the target has no version null'), (null, 2, 'PD031: version 2 cannot be reconstructed'),
    (null, 3, 'PD031: version 3 cannot be reconstructed'),
    ('00000000-0000-4000-8000-000000000000', 0, 'PD030: no target has this id'), ('x', 0, 'PD030: no target has this id')
) as r (target, version, expected);
create function pg_temp.forged() returns text language plpgsql as $$
begin
    update patchdiff.target_snapshots as s set content = 'evil', content_hash = patchdiff._sha256_hex('evil')
    from made as m where s.target_file_id = m.target::uuid and s.version = 1;
    raise exception using errcode = 'ZZ001', message = (select pg_temp.raised(m.target, 1) from made as m);
exception
    when sqlstate 'ZZ001' then
        return sqlerrm;
end
$$;
select is(
    pg_temp.forged(), 'PD031: version 1 cannot be reconstructed', 'a snapshot that has its own hash and not that of the log'
);
alter table patchdiff.manifest_ledger disable trigger append_only;
delete from patchdiff.manifest_ledger as l using made as m where l.target_file_id = m.target::uuid and l.after_version > 1;
delete from patchdiff.append_only_pdcp_logs as l using made as m where l.target_file_id = m.target::uuid and l.after_version > 1;
select is(pg_temp.raised(m.target, 2), 'PD031: version 2 cannot be reconstructed', 'nor when its attempts are gone')
from made as m;
delete from patchdiff.target_snapshots as s using made as m where s.target_file_id = m.target::uuid;
select is(pg_temp.raised(m.target, 0), 'PD031: version 0 cannot be reconstructed', 'nor without a snapshot') from made as m;
select * from finish();
rollback;
