begin;
select plan(2);
select is(
    patchdiff._opened_outcome(null, 3, 'h', 7),
    '{"outcome": "open", "target": {"version": 3, "current_hash": "h", "code_points": 7}}'::jsonb,
    'where nothing was refused or recovered the attempt is open'
);
select is(
    patchdiff._opened_outcome('{"outcome": "refused", "failure": {"code": "x"}}', 3, 'h', 7),
    '{"outcome": "refused", "failure": {"code": "x"},
      "target": {"version": 3, "current_hash": "h", "code_points": 7}}'::jsonb,
    'a verdict stays, with the target that it is about'
);
select * from finish();
rollback;
