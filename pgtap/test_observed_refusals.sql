-- req: OBS-002, OBS-007, OBS-008, OBS-009, OBS-010, OBS-011, OBS-012, OBS-013, OBS-014, OBS-017, OBS-021
-- req: OBS-019, BATCH-002, BATCH-009
-- Every refusal of receipts, through open_attempt and reject_attempt: what is said, what is recorded, and that nothing
-- is used up.
begin;
select plan(87);
create temp table made as
select
    a.answer ->> 'target_file_id' as target,
    b.answer ->> 'target_file_id' as other,
    b.answer ->> 'current_hash' as other_hash
from patchdiff.initialize_target('f', 'one two three') as a (answer), patchdiff.initialize_target('g', 'one') as b (answer);
create function pg_temp.issued(target text, scopes text, bundle boolean default false, engine text default 'e@1')
returns jsonb language sql as $$
    select patchdiff.issue_observations(target, t.version, t.current_hash, engine, 'text', (
        select jsonb_agg(jsonb_build_object(
            'name', s, 'kind', 'k', 'start', split_part(s, '-', 1)::integer, 'end', split_part(s, '-', 2)::integer
        )) from string_to_table(scopes, ' ') as s
    ), bundle)
    from patchdiff.cloud_target_files as t where t.target_file_id = issued.target::uuid
$$;
create temp table receipts (name text primary key, answer jsonb not null);
create function pg_temp.id(name text, n integer default 0) returns jsonb language sql as $$
    select r.answer #> array['observations', n::text, 'observation_id'] from receipts as r where r.name = id.name
$$;
create function pg_temp.bundle(name text) returns jsonb language sql as $$
    select r.answer -> 'observation_bundle_id' from receipts as r where r.name = bundle.name
$$;
create function pg_temp.record(protocol text, groups jsonb) returns text language sql as $$
    select '{"protocol":"' || protocol || '","intent":"i",' || case
        when groups ? 'operations' then '"operations":' || (groups -> 'operations')::text
        else '"observation_bundle_id":' || (groups -> 'observation_bundle_id')::text || ',"groups":' || (groups -> 'groups')::text
    end || '}'
$$;
create function pg_temp.request(observation jsonb, fields jsonb default '{}') returns jsonb language sql as $$
    select jsonb_build_object(
        'expected_target_version', t.version, 'expected_current_hash', t.current_hash, 'observation',
        '{"engine": "e@1"}'::jsonb || observation
    ) || fields
    from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
$$;
create function pg_temp.accepted(protocol text, groups jsonb, request jsonb, starts bigint[], after text) returns jsonb
language sql as $$
    select patchdiff.accept_attempt(
        m.target, t.version, t.current_hash, protocol, pg_temp.record(protocol, groups), request, starts, starts,
        patchdiff._sha256_hex(after)
    )
    from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
$$;

insert into receipts
select v.name, pg_temp.issued(v.target, v.scopes, v.bundle, v.engine)
from made as m cross join lateral (
    values ('closed', m.target, '0-3', false, 'e@1'), ('closed bundle', m.target, '0-3', true, 'e@1'),
    ('other', m.other, '0-3', false, 'e@1'), ('other bundle', m.other, '0-3', true, 'e@1')
) as v (name, target, scopes, bundle, engine);
create temp table saved as select patchdiff.save(m.target) ->> 'status' as status from made as m;
insert into receipts
select v.name, pg_temp.issued(m.target, v.scopes, v.bundle)
from made as m cross join (values ('old', '0-3', false), ('used', '4-7', true)) as v (name, scopes, bundle);
select is(
    pg_temp.accepted(
        'patchdiff-tx/2', '{"operations": [{"op": "match", "match": "two", "replace": "2"}]}',
        pg_temp.request(jsonb_build_object('observation_id', pg_temp.id('used'))), '{4}', 'one 2 three'
    ) ->> 'outcome',
    'accepted', 'a receipt of a bundle is used in single form'
);
insert into receipts
select v.name, pg_temp.issued(m.target, v.scopes, v.bundle, v.engine)
from made as m cross join (
    values ('now', '0-3', false, 'e@1'), ('bundle', '0-3 4-5 6-11', true, 'e@1'), ('rehashed', '0-3', false, 'e@1'),
    ('engine', '0-3', false, 'e@0')
) as v (name, scopes, bundle, engine);
update patchdiff.target_scope_observations as o set target_current_hash = repeat('0', 64)
where o.observation_id = (pg_temp.id('rehashed') #>> '{}')::uuid;

-- the requests, and the code that each is refused with
create temp table cases as
select
    v.what, v.code,
    case when v.observation ? 'observation_ids' then 'patchdiff-observed-batch/1' else 'patchdiff-tx/2' end as protocol,
    pg_temp.request(v.observation, v.fields || case
        when v.observation ? 'observation_ids' and not v.fields ? 'client_request_id'
            then jsonb_build_object('client_request_id', v.what)
        else '{}'
    end) as request
from (
    values
    ('no receipt', '{}'::jsonb, '{}'::jsonb, 'OBSERVATION_REQUIRED'),
    ('a null', '{"observation_id": null}', '{}', 'OBSERVATION_REQUIRED'),
    ('no string', '{"observation_id": 7}', '{}', 'INVALID_OBSERVATION_ID'),
    ('in capitals', '{"observation_id": "AAAAAAAA-0000-4000-8000-000000000000"}', '{}', 'INVALID_OBSERVATION_ID'),
    ('unknown', '{"observation_id": "00000000-0000-4000-8000-000000000000"}', '{}', 'UNKNOWN_OBSERVATION_ID'),
    ('of another target', jsonb_build_object('observation_id', pg_temp.id('other')), '{}', 'OBSERVATION_TARGET_MISMATCH'),
    ('of a closed cycle', jsonb_build_object('observation_id', pg_temp.id('closed')), '{}', 'OBSERVATION_CYCLE_MISMATCH'),
    ('used', jsonb_build_object('observation_id', pg_temp.id('used')), '{}', 'OBSERVATION_ALREADY_CONSUMED'),
    ('of an older version', jsonb_build_object('observation_id', pg_temp.id('old')), '{}', 'STALE_OBSERVATION_VERSION'),
    ('of another text', jsonb_build_object('observation_id', pg_temp.id('rehashed')), '{}', 'STALE_OBSERVATION_HASH'),
    ('of another engine', jsonb_build_object('observation_id', pg_temp.id('engine')), '{}', 'STALE_OBSERVATION_ENGINE'),
    ('no version guard', jsonb_build_object('observation_id', pg_temp.id('now')), '{"expected_target_version": null}',
     'guard_required'),
    ('no hash guard', jsonb_build_object('observation_id', pg_temp.id('now')), '{"expected_current_hash": null}',
     'guard_required'),
    ('a batch without key', jsonb_build_object('observation_bundle_id', pg_temp.bundle('bundle'), 'observation_ids',
     jsonb_build_array(pg_temp.id('bundle'))), '{"client_request_id": null}', 'client_request_id_required'),
    ('no bundle', jsonb_build_object('observation_ids', jsonb_build_array(pg_temp.id('bundle'))), '{}', 'OBSERVATION_REQUIRED'),
    ('another target''s bundle', jsonb_build_object('observation_bundle_id', pg_temp.bundle('other bundle'),
     'observation_ids', jsonb_build_array(pg_temp.id('bundle'))), '{}', 'OBSERVATION_TARGET_MISMATCH'),
    ('a closed cycle''s bundle', jsonb_build_object('observation_bundle_id', pg_temp.bundle('closed bundle'),
     'observation_ids', jsonb_build_array(pg_temp.id('closed bundle'))), '{}', 'OBSERVATION_CYCLE_MISMATCH'),
    ('a bundle used up', jsonb_build_object('observation_bundle_id', pg_temp.bundle('used'),
     'observation_ids', jsonb_build_array(pg_temp.id('used'))), '{}', 'OBSERVATION_ALREADY_CONSUMED'),
    ('a single receipt in a bundle', jsonb_build_object('observation_bundle_id', pg_temp.bundle('bundle'),
     'observation_ids', jsonb_build_array(pg_temp.id('bundle'), pg_temp.id('now'))), '{}', 'OBSERVATION_NOT_IN_BUNDLE'),
    ('another bundle''s receipt', jsonb_build_object('observation_bundle_id', pg_temp.bundle('bundle'),
     'observation_ids', jsonb_build_array(pg_temp.id('bundle', 2), pg_temp.id('used'))), '{}', 'OBSERVATION_ALREADY_CONSUMED')
) as v (what, observation, fields, code);
create function pg_temp.rejected(which text, claimed text) returns jsonb language sql as $$
    select patchdiff.reject_attempt(
        m.target, t.version, t.current_hash, c.protocol, '{}', c.request,
        jsonb_build_object('failure_reason', 'context_invalid', 'code', claimed, 'failure_detail', which),
        '{"retryable": false, "validation_stage": "precondition_guard"}'
    )
    from made as m
    inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
    inner join cases as c on c.what = which
$$;
create function pg_temp.state() returns text language sql as $$
    select string_agg(to_jsonb(o)::text, '' order by o.target_file_id, o.observation_id)
    from patchdiff.target_scope_observations as o, made as m where o.target_file_id in (m.target::uuid, m.other::uuid)
$$;
create temp table before_all as
select pg_temp.state() as state, t.version, t.current_content
from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid;
select is(
    (o.outcome ->> 'outcome') || ' ' || (o.outcome #>> '{failure,failure_reason}') || ' ' || (o.outcome #>> '{failure,code}'),
    'refused context_invalid ' || c.code, 'opened: ' || c.what
)
from cases as c, made as m
cross join lateral patchdiff.open_attempt(m.target, c.protocol, repeat('0', 64), c.request) as o;
select is(
    coalesce(pg_temp.rejected(c.what, 'STALE_OBSERVATION_SCOPE') #>> '{failure,code}', 'recorded'), c.code,
    'no other code is recorded: ' || c.what
) from cases as c;
select is(pg_temp.rejected(c.what, c.code) ->> 'outcome', 'rejected', 'recorded: ' || c.what) from cases as c;
select is(
    (
        select count(*)::text from patchdiff.append_only_pdcp_logs as l, made as m
        where l.target_file_id = m.target::uuid and l.failure_detail = c.what and l.failure_reason = 'context_invalid'
    ),
    '1', 'in one row: ' || c.what
) from cases as c;
select is(
    (
        select row(pg_temp.state(), t.version, t.current_content)::text
        from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
    ),
    row(b.state, b.version, b.current_content)::text, 'no receipt was touched, nor was the text'
) from before_all as b;
select is(o.outcome ->> 'outcome', 'open', 'what was named beside a fault can still be used: ' || r.what)
from made as m
cross join (
    values
    ('a receipt', 'patchdiff-tx/2', pg_temp.request(jsonb_build_object('observation_id', pg_temp.id('now')))),
    ('two of a bundle of three', 'patchdiff-observed-batch/1', pg_temp.request(jsonb_build_object(
        'observation_bundle_id', pg_temp.bundle('bundle'),
        'observation_ids', jsonb_build_array(pg_temp.id('bundle', 2), pg_temp.id('bundle'))
    ), '{"client_request_id": "fresh"}'))
) as r (what, protocol, request)
cross join lateral patchdiff.open_attempt(m.target, r.protocol, repeat('0', 64), r.request) as o;
-- a server that only takes observed edits refuses others so; to an observed one this cannot be claimed
select is(
    patchdiff.reject_attempt(
        m.target, t.version, t.current_hash, 'patchdiff-tx/2', '{}', r.request,
        jsonb_build_object('failure_reason', 'context_invalid', 'code', 'OBSERVATION_REQUIRED', 'failure_detail', r.what),
        '{"retryable": false, "validation_stage": "precondition_guard"}'
    ) ->> 'outcome',
    r.expected, 'OBSERVATION_REQUIRED: ' || r.what
)
from made as m
inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
cross join (
    values
    ('not observed', pg_temp.request('{}') - 'observation', 'rejected'),
    ('a receipt that can be used', pg_temp.request(jsonb_build_object('observation_id', pg_temp.id('now'))), 'unfounded'),
    ('a receipt that cannot', pg_temp.request(jsonb_build_object('observation_id', pg_temp.id('old'))), 'refused')
) as r (what, request, expected);
select * from finish();
rollback;
