-- req: OBS-015, OBS-018, OBS-019, OBS-020, OBS-039, OBS-040, OBS-041, OBS-042, OBS-043, OBS-044, OBS-045
-- req: BATCH-016, BATCH-017, BATCH-024, BATCH-025, BATCH-026, BATCH-027
-- Attempts with receipts, through accept_attempt and reject_attempt: what they use up, and how they replay.
begin;
select plan(67);
create temp table made as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f.py', 'é one two three') as a (answer);
create temp table issued as
select
    patchdiff.issue_observations(m.target, 0, m.hash, 'e@1', 'python', '[{"name": "b", "kind": "k", "start": 6, "end": 9},
        {"name": "a", "kind": "k", "start": 2, "end": 5}]', true) as bundle,
    (patchdiff.issue_observations(
        m.target, 0, m.hash, 'e@1', 'python', '[{"name": "c", "kind": "k", "start": 10, "end": 15}]'
    ) #>> '{observations,0,observation_id}')::uuid as single
from made as m;
create function pg_temp.receipt(n integer) returns uuid language sql as $$
    select (i.bundle #>> array['observations', n::text, 'observation_id'])::uuid from issued as i
$$;
create function pg_temp.uses() returns text language sql as $$
    select string_agg(o.symbol_name || ' ' || coalesce(o.consumption, 'unused'), ', ' order by o.symbol_name)
    from patchdiff.target_scope_observations as o, made as m where o.target_file_id = m.target::uuid
$$;
create function pg_temp.request(observation jsonb, version bigint default 0) returns jsonb language sql as $$
    select jsonb_build_object(
        'expected_target_version', version, 'expected_current_hash', t.current_hash, 'client_request_id', 'k' || version,
        'observation', '{"engine": "e@1"}'::jsonb || observation
    )
    from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
$$;
create function pg_temp.accepted(protocol text, record jsonb, observation jsonb, starts bigint[], after text)
returns jsonb language sql as $$
    select patchdiff.accept_attempt(
        m.target, t.version, t.current_hash, protocol,
        '{"protocol":"' || protocol || '","intent":"i",' || case
            when record ? 'groups' then '"observation_bundle_id":' || (record -> 'observation_bundle_id')::text
                || ',"groups":' || (record -> 'groups')::text
            else '"operations":' || (record -> 'operations')::text
        end || '}',
        pg_temp.request(observation, t.version), starts,
        array(select octet_length(left(t.current_content, s::integer))::bigint from unnest(starts) with ordinality as u (s, i) order by i),
        patchdiff._sha256_hex(after)
    )
    from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
$$;

-- single form
select is(
    pg_temp.accepted(
        'patchdiff-tx/2', '{"operations": [{"op": "match", "match": "one", "replace": "1"}]}',
        jsonb_build_object('observation_id', i.single), '{2}', 'é 1 two three'
    ) ->> 'failure_detail',
    'change 1 does not lie inside its scope', 'the database itself holds changes to their scope'
) from issued as i;
select is(pg_temp.uses(), 'a unused, b unused, c unused', 'nothing was used');
select is(
    patchdiff.reject_attempt(
        m.target, 0, m.hash, 'patchdiff-tx/2', '{"protocol":"patchdiff-tx/2","intent":"i","operations":[]}',
        pg_temp.request(jsonb_build_object('observation_id', i.single)) - 'client_request_id',
        '{"failure_reason": "match_absent", "failure_detail": "d"}',
        '{"retryable": true, "validation_stage": "transaction_applicability"}'
    ) ->> 'outcome',
    'rejected', 'a rejection'
) from made as m, issued as i;
select is(pg_temp.uses(), 'a unused, b unused, c unused', 'uses nothing up');
select is(
    (select l.observation_id from patchdiff.append_only_pdcp_logs as l, made as m where l.target_file_id = m.target::uuid),
    i.single, 'and names the receipt'
) from issued as i;
create temp table first_attempt as
select pg_temp.accepted(
    'patchdiff-tx/2', '{"operations": [{"op": "match", "match": "three", "replace": "3"}]}',
    jsonb_build_object('observation_id', i.single), '{10}', 'é one two 3'
) as answer from issued as i;
select is(a.answer ->> 'outcome', 'accepted', 'an acceptance') from first_attempt as a;
select is(pg_temp.uses(), 'a unused, b unused, c single', 'uses its receipt up');
select is(
    (
        select o.consumed_by_pdcp_log_id::text from patchdiff.target_scope_observations as o
        where o.observation_id = i.single
    ),
    a.answer ->> 'pdcp_log_id', 'which names the attempt'
) from first_attempt as a, issued as i;
select is(a.answer -> 'observation', jsonb_build_object('observation_id', i.single), 'as the answer names the receipt')
from first_attempt as a, issued as i;
select is(
    pg_temp.accepted(
        'patchdiff-tx/2', '{"operations": [{"op": "match", "match": "3", "replace": "4"}]}',
        jsonb_build_object('observation_id', i.single), '{10}', 'é one two 4'
    ) #>> '{failure,code}',
    'OBSERVATION_ALREADY_CONSUMED', 'it cannot be used again'
) from issued as i;

-- a batch, on a new observation
create temp table issued_again as
select patchdiff.issue_observations(m.target, 1, a.answer ->> 'after_hash', 'e@1', 'python',
    '[{"name": "e", "kind": "k", "start": 6, "end": 9}, {"name": "d", "kind": "k", "start": 2, "end": 5}]', true) as bundle
from made as m, first_attempt as a;
update issued as i set bundle = n.bundle from issued_again as n;
create temp table batch as
select jsonb_build_object(
    'observation_bundle_id', i.bundle -> 'observation_bundle_id',
    'groups', jsonb_build_array(
        jsonb_build_object('observation_id', pg_temp.receipt(1), 'operations', '[
            {"op": "span", "start": 0, "end": 1, "expected_text": "o", "replace": "OO"},
            {"op": "match", "match": "ne", "replace": "NE"}]'::jsonb),
        jsonb_build_object('observation_id', pg_temp.receipt(0), 'operations', '[
            {"op": "span", "start": 0, "end": 3, "expected_text": "two", "replace": "2"}]'::jsonb)
    )
) as record from issued as i;
create function pg_temp.named() returns jsonb language sql as $$
    select jsonb_build_object(
        'observation_bundle_id', b.record -> 'observation_bundle_id',
        'observation_ids', jsonb_build_array(pg_temp.receipt(1), pg_temp.receipt(0))
    )
    from batch as b
$$;
create temp table second_attempt as
select pg_temp.accepted('patchdiff-observed-batch/1', b.record, pg_temp.named(), '{2,4,6}', 'é OONE 2 3') as answer from batch as b;
select is(a.answer ->> 'outcome', 'accepted', 'a batch') from second_attempt as a;
select is(pg_temp.uses(), 'a unused, b unused, c single, d batch, e batch', 'uses all its receipts up');
select is(
    (
        select row(count(*), min(l.after_version), max(l.runtime_version), max(l.observation_id::text))::text
        from patchdiff.append_only_pdcp_logs as l, made as m
        where l.target_file_id = m.target::uuid and l.protocol_version = 'patchdiff-observed-batch/1'
    ),
    row(1, 2, 'patchdiff-observed-batch-r1', null)::text, 'as one attempt, of one version'
);
select is(
    a.answer -> 'observation',
    jsonb_build_object(
        'before_version', 1, 'after_version', 2, 'observation_bundle_id', b.record -> 'observation_bundle_id',
        'group_count', 2, 'change_count', 3,
        'groups', jsonb_build_array(
            jsonb_build_object('observation_id', pg_temp.receipt(1), 'symbol', '{"name": "d", "kind": "k"}'::jsonb,
                'scope_start', 2, 'scope_end', 5, 'change_count', 2),
            jsonb_build_object('observation_id', pg_temp.receipt(0), 'symbol', '{"name": "e", "kind": "k"}'::jsonb,
                'scope_start', 6, 'scope_end', 9, 'change_count', 1)
        )
    ),
    'and is summarized in the order of its groups'
) from second_attempt as a, batch as b;
select is(
    patchdiff._attempt_observation(m.target::uuid, (a.answer ->> 'pdcp_log_id')::uuid), a.answer -> 'observation',
    'the same when it is recovered'
) from made as m, second_attempt as a;
select is(
    (
        select string_agg(d.derived ->> 'span_start', ' ' order by d.change_index)
        from patchdiff.manifest_ledger as d, made as m
        where d.target_file_id = m.target::uuid and d.after_version = 2
    ),
    '2 4 6', 'its places count from the text''s start'
);

-- replay
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
create temp view target_scope_observations as
select t.* from patchdiff.target_scope_observations as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view target_scope_bundles as
select t.* from patchdiff.target_scope_bundles as t where t.target_file_id = (select m.target::uuid from made as m);
create temp view append_only_pdcp_logs as
select t.* from patchdiff.append_only_pdcp_logs as t where t.target_file_id = (select m.target::uuid from made as m);
create function pg_temp.after(change text) returns text language plpgsql as $$
declare
    v_answer jsonb;
begin
    execute change;
    v_answer := (select patchdiff.replay_spans(m.target) from made as m);
    raise exception using message = coalesce(v_answer ->> 'code', v_answer ->> 'materialized_state_matches');
exception
    when raise_exception then
        return sqlerrm;
end
$$;
select is(pg_temp.after('select 1'), 'true', 'both replay, without an engine');
select is(pg_temp.after('update pg_temp.target_scope_observations set ' || c.change || format(' where symbol_name = %L', s.name)),
    coalesce(c.expected, 'receipt_altered'), s.name || ': ' || c.change)
from (values ('c'), ('e')) as s (name)
cross join (
    values
    ('scope_start = scope_start + 1', null), ('scope_end = scope_end - 1', null), ('scope_end = 999', null),
    ($$observed_scope_hash = 'x'$$, null), ('target_version = 7', null), ($$target_current_hash = 'x'$$, null),
    ('consumed_by_pdcp_log_id = null, consumed_at = null, consumption = null', 'receipt_missing'),
    ('observation_id = gen_random_uuid()', 'receipt_missing'),
    ('symbol_name = symbol_name', 'true')
) as c (change, expected);
select is(pg_temp.after(format('delete from pg_temp.target_scope_observations where symbol_name = %L', s.name)),
    'receipt_missing', s.name || ' is gone')
from (values ('c'), ('d'), ('e')) as s (name);
select is(pg_temp.after($$delete from pg_temp.target_scope_observations where symbol_name in ('a', 'b')$$), 'true', 'unused ones may go');
select is(pg_temp.after($$
    insert into patchdiff.editing_cycles (target_file_id, editing_cycle_id, opened_version, closed_at, closed_version)
    select m.target::uuid, '00000000-0000-4000-8000-000000000000', 0, now(), 0 from made as m;
    update pg_temp.target_scope_observations set editing_cycle_id = '00000000-0000-4000-8000-000000000000' where symbol_name = 'c'
$$), 'receipt_altered', 'of another cycle');
select is(pg_temp.after($$update pg_temp.target_scope_observations set consumption = 'batch' where symbol_name = 'c'$$),
    'receipt_altered', 'used in another form');
select is(pg_temp.after($$update pg_temp.target_scope_observations set consumption = 'single' where symbol_name = 'd'$$),
    'receipt_altered', 'nor the other way round');
select is(pg_temp.after($$update pg_temp.append_only_pdcp_logs set observation_id = null$$), 'receipt_missing', 'a receipt denied');
select is(pg_temp.after($$update pg_temp.append_only_pdcp_logs set observation_id = gen_random_uuid() where after_version = 1$$),
    'receipt_missing', 'another receipt');
select is(pg_temp.after($$
    update pg_temp.append_only_pdcp_logs as l set observation_id = o.observation_id
    from pg_temp.target_scope_observations as o where l.after_version = 2 and o.symbol_name = 'd'
$$), 'receipt_missing', 'a batch names no receipt outside its record');
select is(pg_temp.after($$
    update pg_temp.target_scope_observations as o
    set observation_bundle_id = x.observation_bundle_id, ordinal = 9
    from pg_temp.target_scope_observations as x where x.symbol_name = 'a' and o.symbol_name = 'd'
$$), 'receipt_altered', 'of another bundle');
select is(pg_temp.after('update pg_temp.target_scope_bundles set ' || c.change), 'receipt_altered', 'the bundle: ' || c.change)
from (
    values ('target_version = 7'), ($$target_current_hash = 'x'$$), ($$engine = 'other'$$)
) as c (change);
select is(pg_temp.after($$
    update pg_temp.append_only_pdcp_logs as l set diagnostic_json = jsonb_build_object(
        'scope_start', o.scope_start, 'scope_end', o.scope_end, 'observed_scope_hash', o.observed_scope_hash,
        'observation', to_jsonb(o)
    )
    from patchdiff.target_scope_observations as o where o.consumed_by_pdcp_log_id = l.pdcp_log_id and o.symbol_name = 'c';
    delete from pg_temp.target_scope_observations where symbol_name = 'c'
$$), 'receipt_missing', 'a diagnostic is no receipt');
-- a superuser can leave the foreign keys unchecked
select is(pg_temp.after(format($$
    set local session_replication_role = replica;
    update pg_temp.target_scope_observations set target_file_id = gen_random_uuid() where symbol_name = %L
$$, s.name)), 'receipt_missing', s.name || ' of another target')
from (values ('c'), ('e')) as s (name);
select is(pg_temp.after(format($$
    set local session_replication_role = replica;
    update pg_temp.target_scope_observations set consumed_by_pdcp_log_id = gen_random_uuid() where symbol_name = %L
$$, s.name)), 'receipt_missing', s.name || ' names another attempt')
from (values ('c'), ('e')) as s (name);
select is(pg_temp.after($$
    set local session_replication_role = replica;
    delete from pg_temp.target_scope_bundles
$$), 'receipt_altered', 'the bundle is gone');
select is(pg_temp.after($$
    update pg_temp.target_scope_observations as o set consumed_by_pdcp_log_id = x.consumed_by_pdcp_log_id,
        consumed_at = x.consumed_at, consumption = 'batch'
    from pg_temp.target_scope_observations as x where x.symbol_name = 'd' and o.symbol_name = 'a'
$$), 'receipt_missing', 'a batch that a further receipt claims');
create function pg_temp.with_record(change text) returns text language sql as $$
    select pg_temp.after(format($s$
        update pg_temp.append_only_pdcp_logs
        set pdcp_content = r.text, pdcp_content_hash = patchdiff._sha256_hex(r.text)
        from (
            select '{"protocol":"patchdiff-observed-batch/1","intent":"i","observation_bundle_id":'
                || (c.record -> 'observation_bundle_id')::text || ',"groups":' || (c.record -> 'groups')::text || '}'
            from (select %s as record from (select l.pdcp_content::jsonb as old from pg_temp.append_only_pdcp_logs as l
                where l.after_version = 2) as l) as c
        ) as r (text)
        where after_version = 2
    $s$, change))
$$;
select is(pg_temp.with_record('l.old'), 'true', 'the record put together anew');
select is(pg_temp.with_record(r.change), r.expected, r.what)
from (
    values
    ($$jsonb_set(l.old, '{groups}', jsonb_build_array(l.old #> '{groups,1}', l.old #> '{groups,0}'))$$,
     'record_not_applicable', 'the groups in another order'),
    ($$jsonb_set(jsonb_set(l.old, '{groups,0,observation_id}', l.old #> '{groups,1,observation_id}'),
        '{groups,1,observation_id}', l.old #> '{groups,0,observation_id}')$$, 'record_not_applicable', 'scopes exchanged'),
    ($$l.old #- '{groups,0}'$$, 'receipt_missing', 'a group less'),
    ($$l.old || '{"observation_bundle_id": "00000000-0000-4000-8000-000000000000"}'$$, 'receipt_altered', 'no such bundle')
) as r (change, expected, what);
select is(pg_temp.after($$
    update pg_temp.append_only_pdcp_logs set pdcp_content = replace(pdcp_content, '"groups":[', '"groups": [') where after_version = 2
$$), 'record_altered', 'a space in the record');
-- a second claim; the index refuses it, so that it has to go first
create function pg_temp.duplicated() returns text language plpgsql as $$
begin
    insert into patchdiff.target_scope_observations
    select r.* from (
        select jsonb_populate_record(o, jsonb_build_object('observation_id', gen_random_uuid())) as r
        from pg_temp.target_scope_observations as v
        inner join patchdiff.target_scope_observations as o on v.observation_id = o.observation_id
        where v.symbol_name = 'c'
    ) as d cross join lateral (select (d.r).*) as r;
    return 'inserted';
exception
    when unique_violation then
        return 'refused';
end
$$;
select is(pg_temp.duplicated(), 'refused', 'one receipt in single form for an attempt');
drop index patchdiff.target_scope_observations_one_single;
select is(pg_temp.duplicated(), 'inserted', 'without the index two claim it');
select is(patchdiff.replay_spans(m.target) ->> 'code', 'receipt_missing', 'which a replay refuses') from made as m;
select is(
    (
        select string_agg(p.proname, ' ' order by p.proname) from pg_proc as p
        where
            p.pronamespace = 'patchdiff'::regnamespace and p.prosrc ~ '_lock_receipts\('
            and strpos(p.prosrc, 'for update') < strpos(p.prosrc, '_lock_receipts')
    ),
    'accept_attempt open_attempt reject_attempt', 'receipts are locked after the target, wherever they are'
);
select is(
    (select p.prosrc ~ 'order by o.observation_id\s+for update' from pg_proc as p where p.proname = '_lock_receipts')::text, 'true',
    'and by their ids'
);
select * from finish();
rollback;
