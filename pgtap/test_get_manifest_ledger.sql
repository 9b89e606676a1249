-- req: LEDG-003, LEDG-004, LEDG-005, LEDG-008, LEDG-009, LEDG-010, LEDG-014, LEDG-015
-- req: LEDG-011, LEDG-012, LEDG-016, LEDG-020, LEDG-030, LEDG-031, SQL-005, SQL-006, SQL-007, SQL-009
begin;
select plan(38);

select has_function('patchdiff', 'get_manifest_ledger', array['text', 'boolean', 'bigint', 'bigint'], 'signature');
select function_returns('patchdiff', 'get_manifest_ledger', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'get_manifest_ledger', 'plpgsql', 'language');
select volatility_is('patchdiff', 'get_manifest_ledger', 'stable', 'it reads');
select is_definer('patchdiff', 'get_manifest_ledger', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'get_manifest_ledger', array['text', 'boolean', 'bigint', 'bigint'], 'patchdiff_editor',
    array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'get_manifest_ledger', array['text', 'boolean', 'bigint', 'bigint'], 'patchdiff_reader',
    array['EXECUTE'], 'the reader may call it'
);
select ok(
    not has_function_privilege(
        'public', 'patchdiff.get_manifest_ledger(text, boolean, bigint, bigint)', 'execute'
    ),
    'PUBLIC may not'
);

create temp table made as
select n.name, patchdiff.initialize_target('f', 'text') as answer
from (values ('ten'), ('many'), ('none'), ('cycles')) as n (name);
create function pg_temp.id(target text) returns text language sql as $$
    select m.answer ->> 'target_file_id' from made as m where m.name = target
$$;
create function pg_temp.cycle(target text) returns uuid language sql as $$
    select (m.answer ->> 'active_editing_cycle_id')::uuid from made as m where m.name = target
$$;
-- An accepted attempt of one change, as the writing functions leave it.
create function pg_temp.accepted(target text, sequence bigint, editing_cycle_id uuid) returns void
language sql as $$
    insert into patchdiff.append_only_pdcp_logs (
        target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version,
        before_hash, after_version, after_hash, request_envelope, request_fingerprint, pdcp_content,
        pdcp_content_hash, created_at, previous_row_hash, row_hash
    ) values (
        pg_temp.id(target)::uuid, sequence + 1000, gen_random_uuid(), 'accepted', 'patchdiff-tx/1', editing_cycle_id,
        sequence - 1, 'b', sequence, 'a', '{}', 'f', '{}', 'h', now(), '', 'r'
    );
    insert into patchdiff.manifest_ledger (
        target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version, after_version,
        change_index, change_id, intent, transaction_intent, rationale, risk, origin, derived, created_at
    )
    select
        l.target_file_id, sequence, l.pdcp_log_id, l.log_sequence, l.editing_cycle_id, l.before_version,
        l.after_version, 1, 'chg_001', 'why', 'the whole intent', 'why', case when sequence = 1 then 'high' end,
        'typed', '{"span_start": 3}', '2026-10-22 23:28:20.999+00'
    from patchdiff.append_only_pdcp_logs as l
    where l.target_file_id = pg_temp.id(target)::uuid and l.log_sequence = sequence + 1000
$$;
create function pg_temp.sequences(page jsonb) returns text language sql as $$
    select coalesce(string_agg(e ->> 'ledger_sequence', ' ' order by n), '')
        || case when page -> 'has_more' = 'true' then ' ...' || (page ->> 'next_sequence')
            when page -> 'next_sequence' = 'null' then '.' end
    from jsonb_array_elements(page -> 'entries') with ordinality as a (e, n)
$$;
do $$
begin
    perform pg_temp.accepted('ten', s, pg_temp.cycle('ten')) from generate_series(1, 10) as s;
    perform pg_temp.accepted('many', s, pg_temp.cycle('many')) from generate_series(101, 301) as s;
    insert into patchdiff.editing_cycles (
        target_file_id, editing_cycle_id, opened_version, closed_at, closed_version
    )
    values (
        pg_temp.id('cycles')::uuid, 'cccccccc-0000-4000-8000-000000000000', 0, now(), 0
    );
    perform pg_temp.accepted('cycles', s, 'cccccccc-0000-4000-8000-000000000000') from generate_series(1, 3) as s;
    perform pg_temp.accepted('cycles', s, pg_temp.cycle('cycles')) from generate_series(4, 6) as s;
end
$$;

-- pages
select is(pg_temp.sequences(r.answer), r.expected, r.what)
from (
    values
    ('all, oldest first', patchdiff.get_manifest_ledger(pg_temp.id('ten')), '1 2 3 4 5 6 7 8 9 10.'),
    ('the newest page', patchdiff.get_manifest_ledger(pg_temp.id('ten'), "limit" => 3), '8 9 10 ...8'),
    (
        'the page before', patchdiff.get_manifest_ledger(pg_temp.id('ten'), "limit" => 3, before_sequence => 8),
        '5 6 7 ...5'
    ),
    (
        'the oldest page', patchdiff.get_manifest_ledger(pg_temp.id('ten'), "limit" => 3, before_sequence => 2), '1.'
    ),
    ('exactly limit rows', patchdiff.get_manifest_ledger(pg_temp.id('ten'), false, 10), '1 2 3 4 5 6 7 8 9 10.'),
    ('one row more', patchdiff.get_manifest_ledger(pg_temp.id('ten'), false, 9), '2 3 4 5 6 7 8 9 10 ...2'),
    ('the open cycle', patchdiff.get_manifest_ledger(pg_temp.id('cycles')), '4 5 6.'),
    ('all cycles', patchdiff.get_manifest_ledger(pg_temp.id('cycles'), true), '1 2 3 4 5 6.'),
    (
        'all cycles, paged', patchdiff.get_manifest_ledger(pg_temp.id('cycles'), true, 2, 5), '3 4 ...3'
    ),
    (
        'more is counted in the open cycle', patchdiff.get_manifest_ledger(pg_temp.id('cycles'), false, 3), '4 5 6.'
    )
) as r (what, answer, expected);
select is(
    patchdiff.get_manifest_ledger(pg_temp.id('none')), '{"entries": [], "has_more": false, "next_sequence": null}',
    'a target without changes'
);
select is(
    (
        jsonb_array_length(r.answer -> 'entries'), r.answer #>> '{entries,-1,ledger_sequence}',
        r.answer ->> 'next_sequence'
    )::text,
    r.expected, 'limit ' || r.asked
)
from (
    values
    ('omitted', patchdiff.get_manifest_ledger(pg_temp.id('many')), '(50,301,252)'),
    ('null', patchdiff.get_manifest_ledger(pg_temp.id('many'), "limit" => null), '(50,301,252)'),
    ('1', patchdiff.get_manifest_ledger(pg_temp.id('many'), "limit" => 1), '(1,301,301)'),
    ('200', patchdiff.get_manifest_ledger(pg_temp.id('many'), "limit" => 200), '(200,301,102)'),
    ('201', patchdiff.get_manifest_ledger(pg_temp.id('many'), "limit" => 201), '(200,301,102)')
) as r (asked, answer, expected);

-- a whole entry
select is(
    (a #> '{entries,0}') - 'pdcp_log_id',
    jsonb_build_object(
        'ledger_sequence', 1, 'log_sequence', 1001, 'before_version', 0, 'after_version', 1,
        'editing_cycle_id', pg_temp.cycle('ten'), 'change_index', 1, 'change_id', 'chg_001', 'intent', 'why',
        'transaction_intent', 'the whole intent', 'rationale', 'why', 'input_state', null, 'output_state', null,
        'affected_region', null, 'user_visible_change', null, 'risk', 'high', 'origin', 'typed',
        'derived', '{"span_start": 3}'::jsonb, 'created_at', '2026-10-22T23:28:20Z'
    ),
    'exactly the tool''s fields'
) from patchdiff.get_manifest_ledger(pg_temp.id('ten')) as a;
select is(
    a #>> '{entries,0,pdcp_log_id}', l.pdcp_log_id::text, 'it names its attempt'
) from patchdiff.get_manifest_ledger(pg_temp.id('ten')) as a
cross join patchdiff.append_only_pdcp_logs as l
where l.target_file_id = pg_temp.id('ten')::uuid and l.log_sequence = 1001;
select is(a #> '{entries,1,risk}', 'null'::jsonb, 'risk is null where none was sent')
from patchdiff.get_manifest_ledger(pg_temp.id('ten')) as a;

-- refusals
select is(
    r.answer - 'failure_detail',
    '{"status": "invalid_argument", "entries": [], "has_more": false, "next_sequence": null}', r.what
)
from (
    values
    ('limit 0', patchdiff.get_manifest_ledger(pg_temp.id('ten'), "limit" => 0)),
    ('limit negative', patchdiff.get_manifest_ledger(pg_temp.id('ten'), "limit" => -1)),
    ('before_sequence 0', patchdiff.get_manifest_ledger(pg_temp.id('ten'), before_sequence => 0)),
    (
        'include_previous_cycles null',
        patchdiff.get_manifest_ledger(pg_temp.id('ten'), include_previous_cycles => null)
    )
) as r (what, answer);
select is(
    patchdiff.get_manifest_ledger('00000000-0000-4000-8000-000000000000') - 'failure_detail',
    '{"status": "not_found", "entries": [], "has_more": false, "next_sequence": null}', 'an unknown target'
);
select is(
    patchdiff.get_manifest_ledger('x') - 'failure_detail',
    '{
        "status": "invalid_argument", "code": "invalid_target_id", "entries": [], "has_more": false,
        "next_sequence": null
    }'::jsonb,
    'a malformed id'
);


-- after a save
select is(
    patchdiff.save(pg_temp.id('cycles')) ->> 'closed_editing_cycle_id', pg_temp.cycle('cycles')::text,
    'a save closes the open cycle'
);
select is(r.answer, '{"entries": [], "has_more": false, "next_sequence": null}', r.what)
from (
    values
    ('the new cycle is empty', patchdiff.get_manifest_ledger(pg_temp.id('cycles'))),
    (
        'the rest of a traversal of the closed one too',
        patchdiff.get_manifest_ledger(pg_temp.id('cycles'), "limit" => 2, before_sequence => 6)
    )
) as r (what, answer);
select is(pg_temp.sequences(r.answer), r.expected, r.what)
from (
    values
    ('all cycles stay', patchdiff.get_manifest_ledger(pg_temp.id('cycles'), true), '1 2 3 4 5 6.'),
    ('in pages', patchdiff.get_manifest_ledger(pg_temp.id('cycles'), true, 2), '5 6 ...5')
) as r (what, answer, expected);
select * from finish();
rollback;
