begin;
select plan(29);

select has_function('patchdiff', 'get_attempt', array['text', 'text', 'boolean'], 'signature');
select function_returns('patchdiff', 'get_attempt', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'get_attempt', 'plpgsql', 'language');
select volatility_is('patchdiff', 'get_attempt', 'stable', 'it reads');
select is_definer('patchdiff', 'get_attempt', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'get_attempt', array['text', 'text', 'boolean'], 'patchdiff_editor', array['EXECUTE'],
    'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'get_attempt', array['text', 'text', 'boolean'], 'patchdiff_reader', array['EXECUTE'],
    'the reader may call it'
);
select ok(not has_function_privilege('public', 'patchdiff.get_attempt(text, text, boolean)', 'execute'), 'PUBLIC may not');

create temp table made as
select a.answer, a.answer ->> 'target_file_id' as id, patchdiff.initialize_target('neighbour', '') ->> 'target_file_id' as neighbour
from (select patchdiff.initialize_target('doc.txt', E'one\ntwo\nthree\n') as answer) as a;
create temp table attempt (name text primary key, answer jsonb);
do $$
declare
    v_id text := (select id from made);
begin
    insert into attempt select 'spans', patchdiff.submit_spans(
        v_id, 'Two words', '[
            {"start": 4, "end": 7, "expected_text": "two", "replace": "2\r\n", "rationale": "a digit", "risk": "low"},
            {"start": 0, "end": 3, "expected_text": "one", "replace": "", "change_id": "first"}
        ]', 0, source => 'somebody'
    );
    insert into attempt select 'whole', patchdiff.submit_replacement(v_id, 'All of it', E'new\r\ntext', 1);
    insert into attempt select 'stale', patchdiff.submit_spans(
        v_id, 'Too late', '[{"start": 0, "end": 1, "expected_text": "x", "replace": "y", "rationale": "r", "risk": "high"}]', 1
    );
    insert into attempt select 'invalid', patchdiff.submit_spans(v_id, 'No spans', '[]', 2);
end
$$;
create function pg_temp.got(name text) returns jsonb language sql as $$
    select patchdiff.get_attempt(m.id, a.answer ->> 'pdcp_log_id') from made as m, attempt as a where a.name = got.name
$$;

select is(
    pg_temp.got('spans') - array[
        'target_file_id', 'filename', 'editing_cycle_id', 'source', 'transaction_intent', 'request_envelope',
        'previous_row_hash', 'row_hash', 'changes', 'proposed_changes', 'changes_failure'
    ],
    patchdiff.get_pdcp_log(m.id, 1, l.log_sequence + 1, include_content => true) #> '{entries,0}',
    'the fields of its log entry, with its record'
)
from made as m
inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = m.id::uuid
where l.after_version = 1;
select is(
    pg_temp.got('spans') - 'changes'
    @> (
        select jsonb_build_object(
            'target_file_id', l.target_file_id, 'filename', 'doc.txt', 'editing_cycle_id', l.editing_cycle_id,
            'source', 'somebody', 'transaction_intent', 'Two words', 'request_envelope', l.request_envelope,
            'previous_row_hash', '', 'row_hash', l.row_hash, 'proposed_changes', null,
            'changes_failure', null
        )
        from patchdiff.append_only_pdcp_logs as l where l.target_file_id = m.id::uuid and l.after_version = 1
    ),
    true, 'and what else its row says'
) from made as m;
select is(
    (select jsonb_agg(c - array['old_text', 'new_text']) from jsonb_array_elements(pg_temp.got('spans') -> 'changes') as c),
    (
        select jsonb_agg(e)
        from jsonb_array_elements(patchdiff.get_manifest_ledger(m.id) -> 'entries') as e
        where e ->> 'after_version' = '1'
    ),
    'the ledger''s entries'
) from made as m;
select results_eq(
    $$ select c ->> 'change_id', c ->> 'old_text', c ->> 'new_text', c ->> 'rationale', c ->> 'risk'
       from jsonb_array_elements(pg_temp.got('spans') -> 'changes') as c $$,
    $$ values ('chg_001', 'two', E'2\n', 'a digit', 'low'), ('first', 'one', '', null, null) $$,
    'with the texts before and after each, canonical'
);
select results_eq(
    $$ select c ->> 'old_text', c ->> 'new_text' from jsonb_array_elements(pg_temp.got('whole') -> 'changes') as c $$,
    $$ values (E'\n2\n\nthree\n', E'new\ntext') $$,
    'a whole replacement replaced the whole text before it'
);
select is(
    patchdiff.get_attempt(m.id, a.answer ->> 'pdcp_log_id', false),
    jsonb_set(pg_temp.got('whole'), '{changes,0,old_text}', 'null'),
    'whose reconstruction can be left out'
) from made as m, attempt as a where a.name = 'whole';
select is(
    pg_temp.got('stale') - 'pdcp_content'
    @> '{
        "status": "rejected", "failure_reason": "target_version_mismatch", "changes": [], "changes_failure": null,
        "proposed_changes": [{
            "change_index": 1, "change_id": "chg_001", "operation": "span", "span_start": 0, "span_end": 1,
            "old_text": "x", "new_text": "y", "rationale": "r", "risk": "high"
        }]
    }',
    true, 'a rejected attempt has changed nothing and proposed something'
);
select is(
    pg_temp.got('invalid') @> '{"status": "rejected", "changes": [], "proposed_changes": null}'
    and (pg_temp.got('invalid') ->> 'changes_failure') like 'The stored record is no transaction%',
    true, 'invalid input proposed nothing that could be shown'
);

-- any target
select is(patchdiff.get_attempt(null, a.answer ->> 'pdcp_log_id'), pg_temp.got(a.name), 'found without its target: ' || a.name)
from attempt as a where a.name in ('spans', 'stale');
create temp table refused as
select r.what, patchdiff.get_attempt(r.target, r.log_id, r.replaced) as answer
from made as m
cross join attempt as a
cross join lateral (
    values
    ('another target', m.neighbour, a.answer ->> 'pdcp_log_id', true),
    ('an unknown attempt', m.id, '00000000-0000-4000-8000-000000000000', true),
    ('an unknown attempt of any target', null, '00000000-0000-4000-8000-000000000000', true),
    ('an unknown target', '00000000-0000-4000-8000-000000000000', a.answer ->> 'pdcp_log_id', true),
    ('a malformed target', upper(m.id), a.answer ->> 'pdcp_log_id', true),
    ('a malformed attempt', m.id, upper(a.answer ->> 'pdcp_log_id'), true),
    ('no attempt', m.id, null, true),
    ('no switch', m.id, a.answer ->> 'pdcp_log_id', null)
) as r (what, target, log_id, replaced)
where a.name = 'spans';
select results_eq(
    $$ select what, answer ->> 'status', answer ->> 'code' from refused order by what $$,
    $$ values
        ('a malformed attempt', 'invalid_argument', null), ('a malformed target', 'invalid_argument', 'invalid_target_id'),
        ('an unknown attempt', 'not_found', null), ('an unknown attempt of any target', 'not_found', null),
        ('an unknown target', 'not_found', null), ('another target', 'not_found', null),
        ('no attempt', 'invalid_argument', null), ('no switch', 'invalid_argument', null) $$,
    'refusals'
);
select is_empty($$ select * from refused where coalesce(answer ->> 'failure_detail', '') = '' $$, 'with sentences');

-- damage
alter table patchdiff.append_only_pdcp_logs disable trigger append_only;
alter table patchdiff.manifest_ledger disable trigger append_only;
create function pg_temp.damaged(name text, statement text) returns text language plpgsql as $$
declare
    v_got jsonb;
begin
    execute format(statement, (select id from made), (select a.answer ->> 'pdcp_log_id' from attempt as a where a.name = damaged.name));
    v_got := pg_temp.got(name);
    raise exception using message = concat_ws(
        ' | ',
        (
            select string_agg(coalesce(c ->> 'old_text', '-') || '>' || coalesce(c ->> 'new_text', '-'), ' ' order by n)
            from jsonb_array_elements(v_got -> 'changes') with ordinality as a (c, n)
        ),
        substring(v_got ->> 'changes_failure' from 1 for 30)
    );
-- the damage is undone with the exception
exception when raise_exception then
    return sqlerrm;
end
$$;
select is(pg_temp.damaged('spans', 'select %L, %L'), E'two>2\n one>', 'nothing is damaged');
select is(
    pg_temp.damaged(d.name, d.statement || ' where target_file_id = %1$L and pdcp_log_id = %2$L' || d.also), d.expected, d.what
)
from (
    values
    (
        'no record', 'spans', 'update patchdiff.append_only_pdcp_logs set pdcp_content = ''{''', '',
        '->- ->- | The stored record is no transa'
    ),
    (
        'another text in the record', 'spans',
        'update patchdiff.append_only_pdcp_logs set pdcp_content = replace(pdcp_content, ''"two"'', ''"six"'')', '',
        E'->2\n one> | The texts of the stored record'
    ),
    (
        'another replacement in the record', 'whole',
        'update patchdiff.append_only_pdcp_logs set pdcp_content = replace(pdcp_content, ''text'', ''tent'')', '',
        E'\n2\n\nthree\n>- | The texts of the stored record'
    ),
    (
        'a ledger row less', 'spans', 'delete from patchdiff.manifest_ledger', ' and change_index = 1',
        'one> | The ledger does not hold one r'
    ),
    (
        'a ledger row of another place', 'spans', 'update patchdiff.manifest_ledger set change_index = 4611686018427387904',
        ' and change_index = 1', '->- one> | The texts of the stored record'
    ),
    (
        'a fact of another kind', 'spans', 'update patchdiff.manifest_ledger set derived = ''[]''', ' and change_index = 1',
        '->- one> | The texts of the stored record'
    )
) as d (what, name, statement, also, expected);
select is(
    pg_temp.damaged('whole', 'update patchdiff.manifest_ledger set derived = ''{}'' where target_file_id = %L and after_version = 1'),
    E'->new\ntext | The text before the replacemen', 'a history that does not lead to the replaced text'
);
-- another target has an attempt of the same id, as a careless import might leave it
alter table patchdiff.append_only_pdcp_logs disable trigger all;
insert into patchdiff.append_only_pdcp_logs
select (jsonb_populate_record(l, jsonb_build_object('target_file_id', m.neighbour, 'client_request_id', null))).*
from made as m
inner join patchdiff.append_only_pdcp_logs as l on l.target_file_id = m.id::uuid
where l.after_version = 1;
select is(
    patchdiff.get_attempt(null, a.answer ->> 'pdcp_log_id') - 'failure_detail', '{"status": "invalid_argument"}',
    'an attempt of two targets needs its target'
) from attempt as a where a.name = 'spans';

select * from finish();
rollback;
