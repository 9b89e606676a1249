-- req: LOG-018, LOG-019, LEDG-009
begin;
select plan(2);
select has_function('patchdiff', '_history_refusal', array['jsonb'], 'signature');
select is(
    patchdiff._history_refusal('{"status": "not_found", "failure_detail": "x"}'),
    '{"status": "not_found", "failure_detail": "x", "entries": [], "has_more": false, "next_sequence": null}',
    'no entries and no continuation'
);
select * from finish();
rollback;
