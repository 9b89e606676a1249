-- req: REPL-025
begin;
select plan(42);

select make_history('_ledger_failures');

select is(patchdiff._ledger_failures(pg_temp.id()::uuid), '[]', 'an intact history has no failure');
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$delete
            from patchdiff.manifest_ledger
            where target_file_id = <t> and log_sequence = <1> and change_index = 2$q$,
        'ledger_row_missing at 1', 'a row is missing'
    ),
    (
        $q$delete from patchdiff.manifest_ledger where target_file_id = <t>$q$,
        'ledger_row_missing at 1, ledger_row_missing at 1, ledger_row_missing at 3', 'all rows are missing'
    ),
    (
        $q$ledger 1.2: change_index = 3$q$,
        'ledger_row_missing at 1, ledger_row_unexpected at 1', 'a row at another place'
    ),
    (
        $q$ledger 3.1: pdcp_log_id = <id 2>$q$,
        'ledger_row_missing at 3, ledger_row_unexpected at 3', 'a row of a rejected attempt'
    ),
    (
        $q$ledger 3.1: pdcp_log_id = gen_random_uuid()$q$,
        'ledger_row_missing at 3, ledger_row_unexpected at 3', 'a row without an attempt'
    ),
    (
        $q$log 1: pdcp_content = ''$q$,
        'record_unreadable at 1', 'a record that is empty'
    ),
    (
        $q$log 1: pdcp_content = repeat('[', 100000)$q$,
        'record_unreadable at 1', 'a record that is nested too deep'
    ),
    (
        $q$log 1: pdcp_content = replace(pdcp_content, 'Alpha', 'Omega')$q$,
        'ledger_row_differs at 1', 'a record with another text'
    ),
    (
        $q$log 3: editing_cycle_id = gen_random_uuid()$q$,
        'ledger_row_differs at 3', 'an attempt in another cycle'
    ),
    (
        $q$log 3: status = 'rejected'$q$,
        'ledger_row_unexpected at 3', 'an attempt that is rejected now'
    ),
    (
        $q$ledger 1.1: transaction_intent = null, intent = null, rationale = null$q$,
        null, 'intents that nobody has read yet'
    ),
    (
        $q$ledger 1.1: transaction_intent = null, rationale = null$q$,
        'ledger_row_differs at 1', 'an intent that nobody has read and that is there'
    )
) as t (statement, expected, what);

-- every column that says something
create function pg_temp.columns_after(assignment text, change_index integer) returns text language plpgsql as $$
declare
    v_message text;
begin
    perform set_config('session_replication_role', 'replica', true);
    execute pg_temp.filled(format(
        'ledger 1.%s: %s', change_index, assignment
    ));
    raise exception using errcode = 'ZZ001', message = patchdiff._ledger_failures(pg_temp.id()::uuid);
exception
    when sqlstate 'ZZ001' then
        get stacked diagnostics v_message = message_text;
        return (
            select string_agg(substring(f.failure ->> 'failure_detail', ': (.*)\.$'), '; ')
            from jsonb_array_elements(v_message::jsonb) as f (failure)
        );
end
$$;
create temp table tampering (name text, value text, change_index integer default 1, column_name text default null);
insert into tampering (name, value)
values
('log_sequence', 'log_sequence + 1000000'), ('editing_cycle_id', 'gen_random_uuid()'), ('before_version', '7'),
('after_version', '7'), ('created_at', $$created_at + interval '1 microsecond'$$), ('change_id', $$'chg_009'$$),
('risk', 'null'), ('origin', $$'x'$$), ('intent', $$'x'$$), ('transaction_intent', $$'x'$$), ('rationale', $$'x'$$),
('input_state', $$'x'$$), ('output_state', $$'x'$$), ('affected_region', $$'x'$$), ('user_visible_change', $$'x'$$),
('derived', $$derived || '{"replacement_sha256": "x"}'$$);
select is(pg_temp.columns_after(t.name || ' = ' || t.value, t.change_index), t.name, 'altered: ' || t.name)
from tampering as t order by t.name collate "C";
select is(
    pg_temp.columns_after('ledger_sequence = ledger_sequence + 1000000000', 1), 'ledger_sequence; ledger_sequence; ledger_sequence',
    'altered: the order of the changes, which those after it lose too'
);
-- the target and the attempt decide which row it is, the sequence is drawn, the cases above are of the rest
select set_eq(
    $$select a.attname::text from pg_attribute a
      where a.attrelid = 'patchdiff.manifest_ledger'::regclass and a.attnum > 0 and not a.attisdropped$$,
    $$select t.name from tampering t
      union all values ('target_file_id'), ('ledger_sequence'), ('pdcp_log_id'), ('change_index')$$,
    'no column is left out'
);
select is(
    pg_temp.columns_after('derived = derived || ' || quote_literal(d.fact), 1), d.expected, d.fact
)
from (
    values
    ('{"change_id": "x"}', 'derived'), ('{"change_index": 2}', 'derived'), ('{"span_start": 1}', 'derived'),
    ('{"span_end": 1}', 'derived'), ('{"matched_chars": 1}', 'derived'), ('{"matched_sha256": "x"}', 'derived'),
    ('{"replacement_chars": 1}', 'derived'), ('{"operation": "replace_all"}', 'derived')
) as d (fact, expected);
select is(
    pg_temp.columns_after($$risk = 'high', rationale = 'x', derived = '[]'$$, 2), 'risk, derived, rationale',
    'several at once'
);

-- no more than a hundred
insert into patchdiff.manifest_ledger (
    target_file_id, ledger_sequence, pdcp_log_id, log_sequence, editing_cycle_id, before_version, after_version,
    change_index, change_id, origin, derived, created_at
)
select
    m.target_file_id, 9000000000 + i, m.pdcp_log_id, m.log_sequence, m.editing_cycle_id, 0, 1, 100 + i, 'x', 'typed',
    '{}', now()
from patchdiff.manifest_ledger as m
cross join generate_series(1, 101) as i
where m.target_file_id = pg_temp.id()::uuid and m.change_index = 2;
select is(
    jsonb_array_length(patchdiff._ledger_failures(pg_temp.id()::uuid)), 100, 'a hundred failures are told'
);
select is(
    patchdiff._ledger_failures(pg_temp.id()::uuid) #>> '{99,failure_detail}',
    'The ledger has a row for change 200, which no accepted record has.', 'in order of the changes'
);

select * from finish();
rollback;
