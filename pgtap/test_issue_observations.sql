-- req: SCOPE-026, SCOPE-028, SCOPE-029, SCOPE-048, SQL-003
begin;
select plan(25);
select function_privs_are(
    'patchdiff', 'issue_observations',
    array['text', 'bigint', 'text', 'text', 'text', 'jsonb', 'boolean', 'bigint', 'bigint', 'boolean'],
    'patchdiff_reader', array[]::text [], 'the reader may not call it'
);
select has_table('patchdiff', t.name, t.name)
from (values ('target_scope_observations'), ('target_scope_bundles')) as t (name);
create temp table made as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('f.py', E'é😀 one\ntwo three\nfour') as a (answer);
create function pg_temp.issued(scopes jsonb, bundle boolean default false, version bigint default 0, hash text default null)
returns jsonb language sql as $$
    select patchdiff.issue_observations(
        m.target, issued.version, coalesce(issued.hash, m.hash), 'engine@1', 'python', scopes, bundle,
        "offset" => 1, max_chars => 5, include_line_starts => true
    )
    from made as m
$$;
create temp table single as
select pg_temp.issued('[{"name": "n", "kind": "function", "start": 3, "end": 17}]') as answer;
select is(s.answer ->> 'outcome', 'issued', 'issued') from single as s;
select is(
    s.answer #> '{observations,0}',
    jsonb_build_object(
        'observation_id', o.observation_id, 'observation_bundle_id', null, 'ordinal', null,
        'symbol', '{"name": "n", "kind": "function"}'::jsonb, 'scope_start', 3, 'scope_end', 17, 'scope_length', 14,
        'observed_scope_hash', encode(sha256(convert_to(E'one\ntwo three\n', 'UTF8')), 'hex'),
        'offset', 1, 'max_chars', 5, 'start', 4, 'end', 9, 'start_line', 1, 'end_line', 2, 'text', E'ne\ntw',
        'truncated', true, 'next_offset', 6, 'next_start', 9, 'line_starts', '[{"line": 2, "start": 7}]'::jsonb
    ),
    'the receipt, with a page of its scope'
)
from single as s, patchdiff.target_scope_observations as o, made as m
where o.target_file_id = m.target::uuid;
select is(
    (
        select row(o.target_version, o.target_current_hash, o.engine, o.language, o.scope_start, o.scope_end,
            o.editing_cycle_id, o.observation_bundle_id, o.consumed_by_pdcp_log_id, o.consumption)::text
        from patchdiff.target_scope_observations as o, made as m where o.target_file_id = m.target::uuid
    ),
    (
        select row(0, m.hash, 'engine@1', 'python', 3, 17, t.active_editing_cycle_id, null, null, null)::text
        from made as m inner join patchdiff.cloud_target_files as t on t.target_file_id = m.target::uuid
    ),
    'one row, of the state that was observed, unused'
);
create temp table bundled as
select pg_temp.issued('[{"name": "b", "kind": "k", "start": 7, "end": 10},
    {"name": "a", "kind": "k", "start": 0, "end": 2}]', true) as answer;
select is(
    (
        select string_agg(r ->> 'ordinal' || (r #>> '{symbol,name}') || (r ->> 'text'), ' ')
        from bundled as b cross join lateral jsonb_array_elements(b.answer -> 'observations') as r
    ),
    '1bwo 2a😀', 'a bundle''s receipts in the order asked'
);
select is(
    (
        select count(distinct r ->> 'observation_bundle_id')::text || count(r ->> 'observation_bundle_id')
        from bundled as b cross join lateral jsonb_array_elements(b.answer -> 'observations') as r
    ),
    '12', 'all of one bundle'
);
select is(
    (
        select row(u.target_version, u.target_current_hash, u.engine, u.language)::text
        from patchdiff.target_scope_bundles as u, bundled as b
        where u.observation_bundle_id = (b.answer ->> 'observation_bundle_id')::uuid
    ),
    (select row(0, m.hash, 'engine@1', 'python')::text from made as m), 'which is one row'
);
create function pg_temp.rows() returns text language sql as $$
    select (select count(*) from patchdiff.target_scope_observations as o where o.target_file_id = m.target::uuid)
        || ' ' || (select count(*) from patchdiff.target_scope_bundles as b where b.target_file_id = m.target::uuid)
    from made as m
$$;
select is(pg_temp.rows(), '3 1', 'three receipts, one bundle');
select is(
    pg_temp.issued('[{"name": "n", "kind": "k", "start": 0, "end": 1}]', false, 1) ->> 'outcome', 'stale_base',
    'another version'
);
select is(
    pg_temp.issued('[{"name": "n", "kind": "k", "start": 0, "end": 1}]', false, 0, repeat('0', 64)) ->> 'outcome', 'stale_base',
    'another hash'
);
select is(
    patchdiff.issue_observations(
        '00000000-0000-4000-8000-000000000000', 0, '', 'e', 'l', '[{"name": "n", "kind": "k", "start": 0, "end": 1}]'
    ) ->> 'outcome',
    'no_target', 'no target'
);
select throws_ok(
    $$select pg_temp.issued('[{"name": "n", "kind": "k", "start": 0, "end": 99}]')$$, 'PD040', null, 'no scope of the text'
);
select throws_ok(
    $$select pg_temp.issued('[{"name": "a", "kind": "k", "start": 0, "end": 9}, {"name": "b", "kind": "k", "start": 8, "end": 10}]',
        true)$$, 'PD040', null, 'no bundle'
);
select is(pg_temp.rows(), '3 1', 'none of these wrote anything');
update patchdiff.cloud_target_files as t set current_content = 'x' from made as m where t.target_file_id = m.target::uuid;
select is(
    pg_temp.issued('[{"name": "n", "kind": "k", "start": 0, "end": 1}]') ->> 'outcome', 'diverged',
    'a text that does not have its hash is not observed'
);
select is(pg_temp.rows(), '3 1', 'nor that');
select is(
    (
        select count(*)::text from pg_index as x
        where x.indrelid = 'patchdiff.target_scope_observations'::regclass and x.indisunique and x.indpred is not null
    ),
    '1', 'one partial unique index'
);
create temp table paged as
select a.answer ->> 'target_file_id' as target, a.answer ->> 'current_hash' as hash
from patchdiff.initialize_target('g', 'one two') as a (answer);
create function pg_temp.paged(place bigint, size bigint) returns text language sql as $$
    select patchdiff.issue_observations(
        p.target, 0, p.hash, 'e', 'l',
        '[{"name": "n", "kind": "k", "start": 0, "end": 3}, {"name": "o", "kind": "k", "start": 4, "end": 6}]', true,
        paged.place, paged.size
    ) #>> '{observations,1,text}'
    from paged as p
$$;
select throws_ok(
    format('select pg_temp.paged(%L, %L)', g.place, g.size), 'PD040', null, 'no page: ' || concat_ws(' for ', g.place, g.size)
)
from (values (3, null), (-1, null), (null, null), (0, 0)) as g (place, size);
select is(pg_temp.paged(2, 1), '', 'the end of the shorter scope is an empty page of it');
select is(
    (select count(*)::text from patchdiff.target_scope_observations as o, paged as p where o.target_file_id = p.target::uuid),
    '2', 'and only that was issued'
);
select * from finish();
rollback;
