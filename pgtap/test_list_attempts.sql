begin;
select plan(14);

select has_function('patchdiff', 'list_attempts', array['text', 'bigint', 'bigint', 'text'], 'signature');
select function_returns('patchdiff', 'list_attempts', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'list_attempts', 'plpgsql', 'language');
select volatility_is('patchdiff', 'list_attempts', 'stable', 'it reads');
select is_definer('patchdiff', 'list_attempts', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'list_attempts', array['text', 'bigint', 'bigint', 'text'], 'patchdiff_editor', array['EXECUTE'],
    'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'list_attempts', array['text', 'bigint', 'bigint', 'text'], 'patchdiff_reader', array['EXECUTE'],
    'the reader may call it'
);
select ok(
    not has_function_privilege('public', 'patchdiff.list_attempts(text, bigint, bigint, text)', 'execute'), 'PUBLIC may not'
);

create temp table made as
select a.answer, a.answer ->> 'target_file_id' as id
from (select patchdiff.initialize_target('f', 'text') as answer) as a;
do $$
declare
    v_id text := (select id from made);
begin
    perform patchdiff.submit_replacement(v_id, 'first', 'one', 0, source => 'somebody');
    perform patchdiff.submit_replacement(v_id, 'second', 'two', 0);
    perform patchdiff.save(v_id, 1, null, false);
    perform patchdiff.submit_replacement(v_id, 'third', 'three', 1, source => '');
end
$$;
select is(
    (
        select jsonb_agg(a.e - array['source', 'editing_cycle_id'] order by a.n)
        from jsonb_array_elements(patchdiff.list_attempts(id) -> 'entries') with ordinality as a (e, n)
    ),
    patchdiff.get_pdcp_log(id) -> 'entries',
    'the log''s entries'
) from made;
select is(
    (
        select array_agg(coalesce(a.e ->> 'source', 'none') order by a.n)
        from jsonb_array_elements(patchdiff.list_attempts(id) -> 'entries') with ordinality as a (e, n)
    ),
    array(
        select coalesce(l.source, 'none') from patchdiff.append_only_pdcp_logs as l
        where l.target_file_id = id::uuid order by l.log_sequence desc
    ),
    'with their sources'
) from made;
select is(
    (
        select array_agg(a.e ->> 'editing_cycle_id' = answer ->> 'active_editing_cycle_id' order by a.n)
        from jsonb_array_elements(patchdiff.list_attempts(id) -> 'entries') with ordinality as a (e, n)
    ),
    array[false, true, true], 'and their cycles'
) from made;
select is(
    patchdiff.list_attempts(id, 1) - 'entries', patchdiff.get_pdcp_log(id, 1) - 'entries', 'its continuation'
) from made;
select is(
    (
        select array_agg(a.e ->> 'intent')
        from jsonb_array_elements(
            patchdiff.list_attempts(id, 5, (patchdiff.get_pdcp_log(id, 1) ->> 'next_sequence')::bigint, 'rejected')
            -> 'entries'
        ) as a (e)
    ),
    array['second'], 'its filters'
) from made;
select is(patchdiff.list_attempts(given, lim), patchdiff.get_pdcp_log(given, lim), 'its refusals')
from (values ('no id', 1)) as r (given, lim);

select * from finish();
rollback;
