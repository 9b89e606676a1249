-- req: REPL-024, SQL-014
begin;
select plan(67);

select has_function('patchdiff', 'verify_chain', array['text'], 'takes the target alone');
select function_returns('patchdiff', 'verify_chain', 'jsonb', 'answers one jsonb');
select volatility_is('patchdiff', 'verify_chain', 'stable', 'it reads');
select is_definer('patchdiff', 'verify_chain', 'acts as its owner');
select function_privs_are('patchdiff', 'verify_chain', array['text'], r.name, array['EXECUTE'], r.name || ' may call it')
from (values ('patchdiff_editor'), ('patchdiff_reader'), ('pg_read_all_data')) as r (name);

create temp table made as
select n.name, patchdiff.initialize_target('f', E'alpha beta\n') ->> 'target_file_id' as target
from (values ('history'), ('other'), ('empty'), ('rejected')) as n (name);
create function pg_temp.id(name text) returns text language sql as $$
    select m.target from made as m where m.name = id.name
$$;
create function pg_temp.submitted(name text, spans jsonb, version bigint, key text, parent text default null)
returns text language sql as $$
    select s.answer ->> 'pdcp_log_id'
    from patchdiff.submit_spans(
        pg_temp.id(submitted.name), 'why', submitted.spans, submitted.version, source => 'somebody',
        client_request_id => submitted.key, parent_pdcp_log_id => submitted.parent,
        attempt => case when submitted.parent is not null then 2 end
    ) as s (answer)
$$;
-- 1 accepted, two changes; 2 rejected; a save; 3 accepted, a retry of 2; 4 rejected; a save; 5 accepted
do $$
declare
    v_parent text;
begin
    perform pg_temp.submitted('history', '[
        {"start": 6, "end": 10, "expected_text": "beta", "replace": "Beta"},
        {"start": 0, "end": 5, "expected_text": "alpha", "replace": "Alpha"}]', 0, 'first');
    v_parent := pg_temp.submitted(
        'history', '[{"start": 0, "end": 5, "expected_text": "alpha", "replace": ""}]', 1, 'second'
    );
    perform patchdiff.save(pg_temp.id('history'));
    perform pg_temp.submitted(
        'history', '[{"start": 0, "end": 5, "expected_text": "Alpha", "replace": "A"}]', 1, 'third', v_parent
    );
    perform pg_temp.submitted('history', '[{"start": 0, "end": 99, "expected_text": "", "replace": ""}]', 2, 'fourth');
    perform patchdiff.save(pg_temp.id('history'));
    perform patchdiff.submit_replacement(pg_temp.id('history'), 'whole', E'end\n', 2);
    perform pg_temp.submitted('other', '[{"start": 0, "end": 1, "expected_text": "a", "replace": "b"}]', 0, 'first');
    perform pg_temp.submitted('rejected', '[{"start": 0, "end": 1, "expected_text": "x", "replace": ""}]', 0, 'first');
end
$$;
create temp table original as
select
    l.*,
    row_number() over (order by l.log_sequence) as place
from patchdiff.append_only_pdcp_logs as l
where l.target_file_id = pg_temp.id('history')::uuid;
create function pg_temp.row_of(place bigint) returns bigint language sql as $$
    select o.log_sequence from original as o where o.place = row_of.place
$$;

-- intact histories
select is(
    patchdiff.verify_chain(pg_temp.id('history')),
    jsonb_build_object(
        'status', 'intact', 'target_file_id', pg_temp.id('history'), 'rows_verified', 5,
        'head_sequence', pg_temp.row_of(5), 'head_hash', (select o.row_hash from original as o where o.place = 5),
        'first_unfit', null
    ),
    'accepted and rejected attempts across two saves'
);
select is(
    patchdiff.verify_chain(pg_temp.id('empty')),
    jsonb_build_object(
        'status', 'intact', 'target_file_id', pg_temp.id('empty'), 'rows_verified', 0, 'head_sequence', 0,
        'head_hash', '', 'first_unfit', null
    ),
    'no attempt at all'
);
select is(
    (patchdiff.verify_chain(pg_temp.id('rejected')) - 'head_sequence') - 'head_hash',
    jsonb_build_object(
        'status', 'intact', 'target_file_id', pg_temp.id('rejected'), 'rows_verified', 1, 'first_unfit', null
    ),
    'rejected attempts only'
);
select is(patchdiff.verify_chain(i.id) - 'failure_detail', i.answer::jsonb, i.what)
from (
    values
    ('00000000-0000-4000-8000-000000000000', '{"status": "not_found"}', 'an unknown target'),
    ('x', '{"status": "invalid_argument", "code": "invalid_target_id"}', 'no id'),
    (null, '{"status": "invalid_argument", "code": "invalid_target_id"}', 'null')
) as i (id, answer, what);

-- tampering, as a superuser can
set constraints all immediate;
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
do $$
declare
    v_name name;
begin
    for v_name in
        select k.conname from pg_constraint as k
        where k.conrelid = 'patchdiff.append_only_pdcp_logs'::regclass and k.contype = 'c'
    loop
        execute format('alter table patchdiff.append_only_pdcp_logs drop constraint %I', v_name);
    end loop;
end
$$;
create function pg_temp.log_update(place bigint, assignment text) returns text language sql as $$
    select format(
        'update patchdiff.append_only_pdcp_logs as l set %s where l.target_file_id = %L and l.log_sequence = %s',
        assignment, pg_temp.id('history'), pg_temp.row_of(place)
    )
$$;
create function pg_temp.ledger_statement(verb text, place bigint, rest text) returns text language sql as $$
    select format(
        '%s where m.target_file_id = %L and m.log_sequence = %s %s', verb, pg_temp.id('history'),
        pg_temp.row_of(place), rest
    )
$$;
-- What is found after statements that are then taken back: the code, the place of the row that is named (? for none
-- of the original), how many rows fitted before it, and whether the row is missing.
create function pg_temp.after(statements text[], name text default 'history') returns text language plpgsql as $$
declare
    v_statement text;
    v_answer jsonb;
    v_message text;
begin
    perform set_config('session_replication_role', 'replica', true);
    foreach v_statement in array statements loop
        execute v_statement;
    end loop;
    v_answer := patchdiff.verify_chain(pg_temp.id(after.name));
    raise exception using errcode = 'ZZ001', message = v_answer;
exception
    when sqlstate 'ZZ001' then
        get stacked diagnostics v_message = message_text;
        v_answer := v_message;
        if v_answer ->> 'status' = 'intact' then
            return 'intact ' || (v_answer ->> 'rows_verified');
        end if;
        return (v_answer #>> '{first_unfit,code}') || ' at ' || coalesce((
            select o.place::text from original as o
            where o.log_sequence = (v_answer #>> '{first_unfit,log_sequence}')::bigint
        ), '?') || ' after ' || (v_answer ->> 'rows_verified')
        || case when v_answer #> '{first_unfit,pdcp_log_id}' = 'null' then ', missing' else '' end;
end
$$;

-- every column in turn, of a row in the middle that was accepted
create temp table tampering (place integer, column_name text, value text, expected text);
insert into tampering
values
(1, 'target_file_id', quote_literal(pg_temp.id('other')), 'previous_row_hash_differs at 4 after 2'),
(2, 'log_sequence', 'log_sequence + 1000000', 'previous_row_hash_differs at 4 after 2'),
(3, 'pdcp_log_id', 'gen_random_uuid()', 'row_hash_differs at 3 after 2'),
(4, 'status', $$'rejected'$$, 'row_hash_differs at 3 after 2'),
(5, 'protocol_version', $$'patchdiff-tx/1'$$, 'row_hash_differs at 3 after 2'),
(6, 'runtime_version', 'null', 'row_hash_differs at 3 after 2'),
(7, 'editing_cycle_id', 'gen_random_uuid()', 'row_hash_differs at 3 after 2'),
(8, 'before_version', 'before_version + 1', 'row_hash_differs at 3 after 2'),
(9, 'before_hash', $$repeat('0', 64)$$, 'row_hash_differs at 3 after 2'),
(10, 'after_version', 'after_version + 9', 'row_hash_differs at 3 after 2'),
(11, 'after_hash', $$repeat('0', 64)$$, 'row_hash_differs at 3 after 2'),
(12, 'failure_reason', $$'match_absent'$$, 'row_hash_differs at 3 after 2'),
(13, 'failure_detail', $$''$$, 'row_hash_differs at 3 after 2'),
(14, 'failed_change_id', $$'chg_001'$$, 'row_hash_differs at 3 after 2'),
(15, 'parent_pdcp_log_id', 'null', 'row_hash_differs at 3 after 2'),
(16, 'regeneration_attempt', '1', 'row_hash_differs at 3 after 2'),
(17, 'source', $$'somebody else'$$, 'row_hash_differs at 3 after 2'),
(18, 'client_request_id', $$'3rd'$$, 'row_hash_differs at 3 after 2'),
(19, 'request_envelope', $$request_envelope || ' '$$, 'fingerprint_differs at 3 after 2'),
(20, 'request_fingerprint', $$repeat('0', 64)$$, 'fingerprint_differs at 3 after 2'),
(21, 'pdcp_content', $$pdcp_content || ' '$$, 'record_hash_differs at 3 after 2'),
(22, 'pdcp_content_hash', $$repeat('0', 64)$$, 'record_hash_differs at 3 after 2'),
-- these two can be filled in later, so they are not in the chain: patchdiff.verify_target compares them
(23, 'intent', $$'x'$$, 'intact 5'),
(24, 'intent_truncated', 'true', 'intact 5'),
(25, 'diagnostic_json', $$'{}'$$, 'row_hash_differs at 3 after 2'),
(26, 'created_at', $$created_at + interval '1 microsecond'$$, 'row_hash_differs at 3 after 2'),
(27, 'previous_row_hash', $$repeat('0', 64)$$, 'previous_row_hash_differs at 3 after 2'),
(28, 'row_hash', $$repeat('0', 64)$$, 'row_hash_differs at 3 after 2'),
(29, 'observation_id', 'gen_random_uuid()', 'row_hash_differs at 3 after 2');
select set_eq(
    'select column_name from tampering',
    $$select a.attname::text from pg_attribute a
      where a.attrelid = 'patchdiff.append_only_pdcp_logs'::regclass and a.attnum > 0 and not a.attisdropped$$,
    'every column is tampered with'
);
select is(
    pg_temp.after(array[pg_temp.log_update(3, t.column_name || ' = ' || t.value)]), t.expected, 'altered: ' || t.column_name
)
from tampering as t order by t.place;
select is(
    pg_temp.after(
        array[pg_temp.log_update(3, 'target_file_id = ' || quote_literal(pg_temp.id('other')))], 'other'
    ),
    'previous_row_hash_differs at 3 after 0', 'a row that was moved is unfit where it came to'
);

-- other tampering
create temp table rehashed as
select $$, row_hash = patchdiff._log_row_hash(
    (select jsonb_populate_record(l, '{"source": "me"}')), (
        select jsonb_agg(m.derived order by m.change_index) from patchdiff.manifest_ledger as m
        where m.target_file_id = l.target_file_id and m.pdcp_log_id = l.pdcp_log_id
    )
)$$ as assignment;
create function pg_temp.rehashed(place bigint) returns text language sql as $$
    select pg_temp.log_update(place, 'source = ''me''' || r.assignment) from rehashed as r
$$;
create function pg_temp.deleted(places bigint[]) returns text[] language sql as $$
    select array_agg(s.statement) from unnest(places) as p (place)
    cross join lateral (
        values
        (pg_temp.ledger_statement('delete from patchdiff.manifest_ledger as m', p.place, '')),
        (format(
            'delete from patchdiff.append_only_pdcp_logs where target_file_id = %L and log_sequence = %s',
            pg_temp.id('history'), pg_temp.row_of(p.place)
        ))
    ) as s (statement)
$$;
create function pg_temp.added(place bigint, change_index bigint) returns text language sql as $$
    select format(
        $t$insert into patchdiff.manifest_ledger (
            target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version, after_version,
            change_index, change_id, origin, derived, created_at
        )
        select
            o.target_file_id, 9000000000, o.pdcp_log_id, o.log_sequence, o.editing_cycle_id, 0, 1, %s, 'x', 'typed',
            '{}', now()
        from original as o where o.place = %s$t$, change_index, place
    )
$$;
create function pg_temp.headed(assignment text, name text default 'history') returns text language sql as $$
    select format(
        'update patchdiff.cloud_target_files set %s where target_file_id = %L', assignment, pg_temp.id(name)
    )
$$;
select is(pg_temp.after(t.statements), t.expected, t.what)
from (
    values
    (pg_temp.deleted('{1}'), 'previous_row_hash_differs at 2 after 0', 'the first row deleted'),
    (pg_temp.deleted('{3}'), 'previous_row_hash_differs at 4 after 2', 'a middle row deleted'),
    (pg_temp.deleted('{5}'), 'head_differs at 5 after 4, missing', 'the last row deleted'),
    (pg_temp.deleted('{4, 5}'), 'head_differs at 5 after 3, missing', 'the last two rows deleted'),
    (pg_temp.deleted('{1, 2, 3, 4, 5}'), 'head_differs at 5 after 0, missing', 'all rows deleted'),
    (
        array[
            pg_temp.log_update(2, 'log_sequence = 9000000000'),
            pg_temp.log_update(3, 'log_sequence = ' || pg_temp.row_of(2)),
            format(
                'update patchdiff.append_only_pdcp_logs set log_sequence = %s where log_sequence = 9000000000',
                pg_temp.row_of(3)
            )
        ],
        'previous_row_hash_differs at 2 after 1', 'two rows in each other''s place'
    ),
    (array[pg_temp.rehashed(3)], 'previous_row_hash_differs at 4 after 3', 'a row altered and hashed again'),
    (array[pg_temp.rehashed(5)], 'head_differs at 5 after 5', 'the last row altered and hashed again'),
    (array[pg_temp.log_update(1, 'source = null'), pg_temp.log_update(4, 'source = null')],
     'row_hash_differs at 1 after 0', 'of several unfit rows the first is named'),
    (
        array[pg_temp.ledger_statement(
            $$update patchdiff.manifest_ledger as m set derived = derived || '{"span_start": 7}'$$, 1,
            'and m.change_index = 1'
        )],
        'row_hash_differs at 1 after 0', 'a ledger row''s fact altered'
    ),
    (
        array[pg_temp.ledger_statement(
            'update patchdiff.manifest_ledger as m set change_index = change_index + 2', 1, 'and m.change_index = 1'
        )],
        'row_hash_differs at 1 after 0', 'ledger rows in another order'
    ),
    (
        array[pg_temp.ledger_statement('delete from patchdiff.manifest_ledger as m', 1, 'and m.change_index = 2')],
        'row_hash_differs at 1 after 0', 'a ledger row deleted'
    ),
    (
        array[pg_temp.ledger_statement('delete from patchdiff.manifest_ledger as m', 5, '')],
        'row_hash_differs at 5 after 4', 'an attempt''s only ledger row deleted'
    ),
    (array[pg_temp.added(3, 2)], 'row_hash_differs at 3 after 2', 'a ledger row added'),
    (array[pg_temp.added(4, 1)], 'row_hash_differs at 4 after 3', 'a ledger row added to a rejected attempt'),
    (array[pg_temp.headed($$log_head_hash = repeat('0', 64)$$)], 'head_differs at 5 after 5', 'the head''s hash altered'),
    (
        array[pg_temp.headed('log_head_sequence = log_head_sequence + 1')], 'head_differs at ? after 5, missing',
        'the head''s number altered'
    ),
    (
        array[pg_temp.headed(format(
            'log_head_sequence = %s, log_head_hash = %L', pg_temp.row_of(4),
            (select o.row_hash from original as o where o.place = 4)
        ))],
        'head_differs at 5 after 5', 'a row after the head'
    ),
    -- what a chain cannot show
    (
        pg_temp.deleted('{5}') || pg_temp.headed(format(
            'log_head_sequence = %s, log_head_hash = %L', pg_temp.row_of(4),
            (select o.row_hash from original as o where o.place = 4)
        )),
        'intact 4', 'the last row deleted and the head moved back'
    )
) as t (statements, expected, what);
select is(
    pg_temp.after(array[pg_temp.headed($$log_head_hash = 'x'$$, 'empty')], 'empty'),
    'head_differs at ? after 0, missing', 'a head without a row'
);
select is(pg_temp.after(pg_temp.deleted('{1, 3}'), 'other'), 'intact 1', 'another target''s chain is its own');
select is(
    patchdiff.verify_chain(pg_temp.id('history')) ->> 'status', 'intact', 'none of this has remained'
);
-- the last words: from here on the history stays tampered with
do $$
begin
    execute pg_temp.log_update(3, 'source = null');
end
$$;
select is(
    patchdiff.verify_chain(pg_temp.id('history')) -> 'first_unfit',
    jsonb_build_object(
        'log_sequence', o.log_sequence, 'pdcp_log_id', o.pdcp_log_id, 'code', 'row_hash_differs', 'failure_detail',
        'row_hash is not the hash of the row and its ledger facts: one of its columns, or its rows in the ledger,'
        || ' were altered, added or removed.'
    ),
    'it names the row and says why'
)
from original as o where o.place = 3;

select * from finish();
rollback;
