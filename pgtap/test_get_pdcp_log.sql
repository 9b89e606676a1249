-- req: LOG-002, LOG-003, LOG-004, LOG-005, LOG-006, LOG-008, LOG-010, LOG-011, LOG-012, LOG-013, LOG-014
-- req: LOG-015, LOG-016, LOG-017, LOG-018, LOG-019, LOG-020, LOG-021, LOG-023, LOG-024, LOG-025, LOG-026
-- req: LOG-027, LOG-029, LOG-035, LOG-037, LOG-038, LOG-039, LOG-040, LOG-041, LOG-042, LOG-044
-- req: SQL-005, SQL-006, SQL-007, SQL-009
begin;
select plan(62);

select has_function(
    'patchdiff', 'get_pdcp_log', array['text', 'bigint', 'bigint', 'text', 'text', 'text', 'boolean'], 'signature'
);
select function_returns('patchdiff', 'get_pdcp_log', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'get_pdcp_log', 'plpgsql', 'language');
select volatility_is('patchdiff', 'get_pdcp_log', 'stable', 'it reads');
select is_definer('patchdiff', 'get_pdcp_log', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'get_pdcp_log', array['text', 'bigint', 'bigint', 'text', 'text', 'text', 'boolean'],
    'patchdiff_editor', array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'get_pdcp_log', array['text', 'bigint', 'bigint', 'text', 'text', 'text', 'boolean'],
    'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
select ok(
    not has_function_privilege(
        'public', 'patchdiff.get_pdcp_log(text, bigint, bigint, text, text, text, boolean)', 'execute'
    ),
    'PUBLIC may not'
);

create temp table made as
select n.name, patchdiff.initialize_target('f', 'text') as answer
from (values ('ten'), ('many'), ('big'), ('none'), ('neighbour')) as n (name);
create function pg_temp.id(target text) returns text language sql as $$
    select m.answer ->> 'target_file_id' from made as m where m.name = target
$$;
-- One attempt, as the writing functions leave it; every third is rejected unless a status is given.
create function pg_temp.attempt(
    target text, sequence bigint, status text default null, content text default 'record',
    content_hash text default null, request_key text default null
) returns void language sql as $$
    insert into patchdiff.append_only_pdcp_logs (
        target_file_id, log_sequence, pdcp_log_id, status, protocol_version, runtime_version, editing_cycle_id,
        before_version, before_hash, after_version, after_hash, failure_reason, request_envelope,
        request_fingerprint, pdcp_content, pdcp_content_hash, client_request_id, created_at, previous_row_hash,
        row_hash
    )
    select
        (m.answer ->> 'target_file_id')::uuid, sequence, gen_random_uuid(), s.status, 'patchdiff-tx/1',
        'patchdiff-mvp-0.2.2', (m.answer ->> 'active_editing_cycle_id')::uuid, sequence - 1, 'before',
        case when s.status = 'accepted' then sequence end, case when s.status = 'accepted' then 'after' end,
        case when s.status = 'rejected' then 'match_absent' end, '{}', 'fingerprint', content,
        coalesce(content_hash, 'hash ' || sequence), request_key, '2026-10-22 23:28:20.999+00', '', 'row'
    from made as m
    cross join (select coalesce(attempt.status, case when sequence % 3 = 0 then 'rejected' else 'accepted' end)) as s (status)
    where m.name = target
$$;
create function pg_temp.sequences(page jsonb) returns text language sql as $$
    select coalesce(string_agg(e ->> 'log_sequence', ' ' order by n), '')
        || case when page -> 'has_more' = 'true' then ' ...' || (page ->> 'next_sequence')
            when page -> 'next_sequence' = 'null' then '.' end
    from jsonb_array_elements(page -> 'entries') with ordinality as a (e, n)
$$;
do $$
begin
    perform pg_temp.attempt('ten', s, content_hash => case when s in (3, 4, 6) then 'same' end,
        request_key => case s when 5 then repeat('k', 200) when 6 then 'six' end)
    from generate_series(1, 10) as s;
    perform pg_temp.attempt('many', s) from generate_series(101, 301) as s;
    perform pg_temp.attempt('neighbour', 11, content_hash => 'same', request_key => 'six');
end
$$;

-- pages
select is(pg_temp.sequences(patchdiff.get_pdcp_log(pg_temp.id('ten'))), '10 9 8 7 6 5 4 3 2 1.', 'newest first');
select is(
    pg_temp.sequences(patchdiff.get_pdcp_log(pg_temp.id('ten'), "limit" => 3)), '10 9 8 ...8', 'a page of three'
);
select is(
    pg_temp.sequences(patchdiff.get_pdcp_log(pg_temp.id('ten'), 3, before_sequence => 8)), '7 6 5 ...5',
    'before_sequence is exclusive'
);
select is(
    pg_temp.sequences(patchdiff.get_pdcp_log(pg_temp.id('ten'), 10)), '10 9 8 7 6 5 4 3 2 1.',
    'exactly limit rows are the last page'
);
select is(
    pg_temp.sequences(patchdiff.get_pdcp_log(pg_temp.id('ten'), 9)), '10 9 8 7 6 5 4 3 2 ...2', 'one more is not'
);
select is(
    patchdiff.get_pdcp_log(pg_temp.id('ten'), before_sequence => 1),
    '{"entries": [], "has_more": false, "next_sequence": null}', 'an empty page'
);
select is(
    patchdiff.get_pdcp_log(pg_temp.id('none')), '{"entries": [], "has_more": false, "next_sequence": null}',
    'a target without attempts'
);
select is(
    (
        jsonb_array_length(r.answer -> 'entries'), r.answer #>> '{entries,0,log_sequence}', r.answer ->> 'next_sequence'
    )::text,
    r.expected, 'limit ' || r.asked
)
from (
    values
    ('omitted', patchdiff.get_pdcp_log(pg_temp.id('many')), '(50,301,252)'),
    ('null', patchdiff.get_pdcp_log(pg_temp.id('many'), null), '(50,301,252)'),
    ('1', patchdiff.get_pdcp_log(pg_temp.id('many'), 1), '(1,301,301)'),
    ('200', patchdiff.get_pdcp_log(pg_temp.id('many'), 200), '(200,301,102)'),
    ('201', patchdiff.get_pdcp_log(pg_temp.id('many'), 201), '(200,301,102)'),
    ('2^63-1', patchdiff.get_pdcp_log(pg_temp.id('many'), 9223372036854775807), '(200,301,102)')
) as r (asked, answer, expected);

-- filters
select is(pg_temp.sequences(r.answer), r.expected, r.what)
from (
    values
    ('accepted', patchdiff.get_pdcp_log(pg_temp.id('ten'), status => 'accepted'), '10 8 7 5 4 2 1.'),
    ('rejected', patchdiff.get_pdcp_log(pg_temp.id('ten'), status => 'rejected'), '9 6 3.'),
    ('status and limit', patchdiff.get_pdcp_log(pg_temp.id('ten'), 2, status => 'rejected'), '9 6 ...6'),
    (
        'exactly limit rows after the filter',
        patchdiff.get_pdcp_log(pg_temp.id('ten'), 3, status => 'rejected'), '9 6 3.'
    ),
    ('status and bound', patchdiff.get_pdcp_log(pg_temp.id('ten'), 50, 9, 'rejected'), '6 3.'),
    ('content_hash', patchdiff.get_pdcp_log(pg_temp.id('ten'), content_hash => 'same'), '6 4 3.'),
    ('content_hash and limit', patchdiff.get_pdcp_log(pg_temp.id('ten'), 2, content_hash => 'same'), '6 4 ...4'),
    ('content_hash and bound', patchdiff.get_pdcp_log(pg_temp.id('ten'), 50, 6, content_hash => 'same'), '4 3.'),
    (
        'content_hash and status',
        patchdiff.get_pdcp_log(pg_temp.id('ten'), status => 'rejected', content_hash => 'same'), '6 3.'
    ),
    (
        'content_hash, status and bound',
        patchdiff.get_pdcp_log(pg_temp.id('ten'), 50, 6, 'rejected', 'same'), '3.'
    ),
    ('content_hash of nothing', patchdiff.get_pdcp_log(pg_temp.id('ten'), content_hash => 'sam_'), '.'),
    ('content_hash empty', patchdiff.get_pdcp_log(pg_temp.id('ten'), content_hash => ''), '.'),
    ('a key', patchdiff.get_pdcp_log(pg_temp.id('ten'), client_request_id => 'six'), '6.'),
    (
        'a legacy key of 200 characters',
        patchdiff.get_pdcp_log(pg_temp.id('ten'), client_request_id => repeat('k', 200)), '5.'
    ),
    ('an unknown key', patchdiff.get_pdcp_log(pg_temp.id('ten'), client_request_id => 'seven'), '.'),
    ('a key is no pattern', patchdiff.get_pdcp_log(pg_temp.id('ten'), client_request_id => 's%'), '.'),
    ('the same key of another target', patchdiff.get_pdcp_log(pg_temp.id('neighbour'), client_request_id => 'six'), '11.'),
    ('all filters', patchdiff.get_pdcp_log(pg_temp.id('ten'), 1, 7, 'rejected', 'same', 'six'), '6.'),
    ('all but the status', patchdiff.get_pdcp_log(pg_temp.id('ten'), 1, 7, 'accepted', 'same', 'six'), '.'),
    ('all but the hash', patchdiff.get_pdcp_log(pg_temp.id('ten'), 1, 7, 'rejected', 'other', 'six'), '.'),
    ('all but the bound', patchdiff.get_pdcp_log(pg_temp.id('ten'), 1, 6, 'rejected', 'same', 'six'), '.')
) as r (what, answer, expected);

-- rows that come later
do $$begin perform pg_temp.attempt('ten', 12); end$$;
select is(
    pg_temp.sequences(patchdiff.get_pdcp_log(pg_temp.id('ten'), 3, 8)), '7 6 5 ...5', 'a newer row shifts no later page'
);

-- whole entries
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, runtime_version, editing_cycle_id,
    before_version, before_hash, failure_reason, failure_detail, failed_change_id, parent_pdcp_log_id,
    regeneration_attempt, source, client_request_id, request_envelope, request_fingerprint, pdcp_content,
    pdcp_content_hash, intent, intent_truncated, diagnostic_json, created_at, previous_row_hash, row_hash
)
select
    l.target_file_id, 13, 'aaaaaaaa-0000-4000-8000-000000000000', 'rejected', 'patchdiff-tx/2', 'patchdiff-mvp-0.3.0',
    l.editing_cycle_id, 7, 'hash at the attempt', 'match_absent', 'MATCH text is absent.', 'chg_002', l.pdcp_log_id,
    2, 'somebody', 'key 13', '{}', 'the fingerprint', '{"record":1}', 'the record''s hash', repeat('i', 256), true,
    '{"code": "x"}', '2026-10-22 23:28:20.999+00', '', 'row'
from patchdiff.append_only_pdcp_logs as l
where l.target_file_id = pg_temp.id('ten')::uuid and l.log_sequence = 9;
create temp table entry as
select patchdiff.get_pdcp_log(pg_temp.id('ten'), 1) #> '{entries,0}' as rejected,
    patchdiff.get_pdcp_log(pg_temp.id('ten'), 1, 11) #> '{entries,0}' as accepted;
select is(
    rejected - 'parent_pdcp_log_id',
    jsonb_build_object(
        'log_sequence', 13, 'pdcp_log_id', 'aaaaaaaa-0000-4000-8000-000000000000', 'status', 'rejected',
        'protocol_version', 'patchdiff-tx/2', 'runtime_version', 'patchdiff-mvp-0.3.0', 'before_version', 7,
        'after_version', null, 'before_hash', 'hash at the attempt', 'after_hash', null,
        'failure_reason', 'match_absent', 'failure_detail', 'MATCH text is absent.', 'failed_change_id', 'chg_002',
        'regeneration_attempt', 2, 'attempt', 2, 'client_request_id', 'key 13', 'request_fingerprint', 'the fingerprint',
        'pdcp_content_hash', 'the record''s hash', 'diagnostic', '{"code": "x"}'::jsonb, 'intent', repeat('i', 256),
        'intent_truncated', true, 'created_at', '2026-10-22T23:28:20Z'
    ),
    'a rejected attempt'
) from entry;
select is(
    e.rejected ->> 'parent_pdcp_log_id', l.pdcp_log_id::text, 'its parent'
) from entry as e cross join patchdiff.append_only_pdcp_logs as l
where l.target_file_id = pg_temp.id('ten')::uuid and l.log_sequence = 9;
select is(
    accepted - 'pdcp_log_id',
    '{
        "log_sequence": 10, "status": "accepted", "protocol_version": "patchdiff-tx/1",
        "runtime_version": "patchdiff-mvp-0.2.2", "before_version": 9, "after_version": 10, "before_hash": "before",
        "after_hash": "after", "failure_reason": null, "failure_detail": null, "failed_change_id": null,
        "parent_pdcp_log_id": null, "regeneration_attempt": null, "attempt": null, "client_request_id": null,
        "request_fingerprint": "fingerprint", "pdcp_content_hash": "hash 10", "diagnostic": null, "intent": null,
        "intent_truncated": false, "created_at": "2026-10-22T23:28:20Z"
    }'::jsonb,
    'an accepted attempt, without content'
) from entry;
select is_empty(
    $$select field from entry, jsonb_object_keys(rejected) as field
      where field not in ('attempt', 'diagnostic') and field not in (
          select attname::text from pg_attribute where attrelid = 'patchdiff.append_only_pdcp_logs'::regclass)$$,
    'fields are named as columns'
);

-- content
do $$
begin
    perform pg_temp.attempt('big', 1, content => repeat('a', 500));
    perform pg_temp.attempt('big', 2, content => repeat(U&'\00e9', 24));
    perform pg_temp.attempt('big', 3, content => repeat('c', 1048576 - 48 - 10));
    perform pg_temp.attempt('big', 4, content => repeat('d', 10));
    perform pg_temp.attempt('big', 5, content => repeat('e', 1048577));
    perform pg_temp.attempt('big', 6, content => '');
end
$$;
create function pg_temp.contents(page jsonb) returns text language sql as $$
    select string_agg(
        (e ->> 'log_sequence') || ':' || coalesce(octet_length(e ->> 'pdcp_content')::text, e ->> 'pdcp_content_omitted'),
        ' ' order by n
    ) from jsonb_array_elements(page -> 'entries') with ordinality as a (e, n)
$$;
select is(
    pg_temp.contents(patchdiff.get_pdcp_log(pg_temp.id('big'), include_content => true, before_sequence => 5)),
    '4:10 3:1048518 2:48 1:page_byte_budget', 'a page of exactly the budget is whole, what comes after it is omitted'
);
select is(
    pg_temp.contents(patchdiff.get_pdcp_log(pg_temp.id('big'), include_content => true)),
    '6:0 5:page_byte_budget 4:10 3:1048518 2:48 1:page_byte_budget', 'smaller entries after an omitted one are returned'
);
select is(
    pg_temp.contents(patchdiff.get_pdcp_log(pg_temp.id('big'), include_content => true, before_sequence => 6)),
    '5:1048577 4:page_byte_budget 3:page_byte_budget 2:page_byte_budget 1:page_byte_budget',
    'the first entry is whole beyond the budget'
);
select is(
    pg_temp.contents(patchdiff.get_pdcp_log(pg_temp.id('big'), 1, 5 + 1, include_content => true)), '5:1048577',
    'an omitted one is had alone'
);
select is(
    patchdiff.get_pdcp_log(pg_temp.id('big'), 1, 3, include_content => true) #>> '{entries,0,pdcp_content}',
    repeat(U&'\00e9', 24), 'content is the stored record'
);
select ok(
    not e ? 'pdcp_content_omitted', 'nothing is said of what is not omitted'
) from (
    select patchdiff.get_pdcp_log(pg_temp.id('big'), 1, include_content => true) #> '{entries,0}' as e
) as p;
select is(
    e -> 'pdcp_content', 'null'::jsonb, 'an omitted content is null'
) from (
    select patchdiff.get_pdcp_log(pg_temp.id('big'), 2, include_content => true) #> '{entries,1}' as e
) as p;

-- refusals
select is(
    r.answer - 'failure_detail',
    '{"status": "invalid_argument", "entries": [], "has_more": false, "next_sequence": null}', r.what
)
from (
    values
    ('limit 0', patchdiff.get_pdcp_log(pg_temp.id('ten'), 0)),
    ('limit negative', patchdiff.get_pdcp_log(pg_temp.id('ten'), -1)),
    ('before_sequence 0', patchdiff.get_pdcp_log(pg_temp.id('ten'), before_sequence => 0)),
    ('another status', patchdiff.get_pdcp_log(pg_temp.id('ten'), status => 'Accepted')),
    ('an empty status', patchdiff.get_pdcp_log(pg_temp.id('ten'), status => '')),
    ('include_content null', patchdiff.get_pdcp_log(pg_temp.id('ten'), include_content => null))
) as r (what, answer);
select is(
    patchdiff.get_pdcp_log('00000000-0000-4000-8000-000000000000') - 'failure_detail',
    '{"status": "not_found", "entries": [], "has_more": false, "next_sequence": null}', 'an unknown target'
);
select is(
    patchdiff.get_pdcp_log('x') - 'failure_detail',
    '{
        "status": "invalid_argument", "code": "invalid_target_id", "entries": [], "has_more": false,
        "next_sequence": null
    }'::jsonb,
    'a malformed id'
);

select * from finish();
rollback;
