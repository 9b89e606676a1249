-- req: REPL-025
begin;
select plan(11);

select make_history('_log_intent_failures');

select is(patchdiff._log_intent_failures(pg_temp.id()::uuid), '[]', 'an intact history has no failure');
select is(pg_temp.after(t.statement), t.expected, t.what)
from (
    values
    (
        $q$log 1: intent = 'other'$q$,
        'intent_differs at 1', 'another intent'
    ),
    (
        $q$log 2: intent = null$q$,
        'intent_differs at 2', 'an intent taken away, of a rejected attempt'
    ),
    (
        $q$log 3: intent_truncated = true$q$,
        'intent_differs at 3', 'an intent said to be longer'
    ),
    (
        $q$log 1: intent = null, intent_truncated = null$q$,
        null, 'an intent that nobody has read yet'
    ),
    (
        $q$log 1: intent_truncated = null$q$,
        'intent_differs at 1', 'an intent that nobody has read and that is there'
    ),
    (
        $q$log 1: pdcp_content = 'no JSON'$q$,
        'intent_differs at 1', 'a record that is no JSON has no intent'
    ),
    (
        $q$log 1: pdcp_content = repeat('[', 100000), intent = null$q$,
        null, 'nor has one that is nested too deep'
    ),
    (
        $q$log 1: pdcp_content = '{"intent": "' || repeat('x', 257) || '"}', intent = repeat('x', 256)$q$,
        'intent_differs at 1', 'a longer intent says so'
    ),
    (
        $q$log 1: pdcp_content = '{"intent": "' || repeat('x', 257) || '"}',
            intent = repeat('x', 256),
            intent_truncated = true$q$,
        null, 'and is cut after 256'
    ),
    (
        $q$update patchdiff.append_only_pdcp_logs set intent = 'x' where target_file_id = <t>$q$,
        'intent_differs at 1, intent_differs at 2, intent_differs at 3', 'all of them, in order'
    )
) as t (statement, expected, what);

select * from finish();
rollback;
