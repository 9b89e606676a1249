begin;
select plan(2);
select is(
    patchdiff._check_failure('chain', 'head_differs', 'Because.', 7),
    '{"check": "chain", "code": "head_differs", "failure_detail": "Because.", "log_sequence": 7}', 'one failure'
);
select is(
    patchdiff._check_failure('cycles', 'active_cycle_missing', 'Because.'),
    '{"check": "cycles", "code": "active_cycle_missing", "failure_detail": "Because."}', 'without an attempt'
);
select * from finish();
rollback;
