-- req: REPL-009, REPL-010, TX2-042
begin;
select plan(15);
select is(
    patchdiff._is_replayable_pair(
        'patchdiff-tx/' || p.tx, 'patchdiff-mvp-' || p.runtime, '{"operations":[' || p.operations || ']}'
    )::text,
    p.expected, concat_ws(' ', p.tx, p.runtime, p.operations)
)
from (
    values
    ('1', '0.2.2', '', 'true'), ('1', '0.3.0', '', 'false'), ('1', '0.2.1', '', 'false'),
    ('2', '0.3.0', '{"op":"span"}', 'true'), ('2', '0.5.0', '{"op":"span","expected_after":null}', 'true'),
    ('2', '0.3.0', '{"op":"span","expected_after":null}', 'false'), ('2', '0.5.0', '{"op":"span"}', 'true'),
    ('2', '0.4.0', '{"op":"span"}', 'false'), ('3', '0.4.0', '', 'true'), ('3', '0.2.2', '', 'false'),
    ('4', '0.4.0', '', 'false'), ('1', null, '', 'false')
) as p (tx, runtime, operations, expected);
select is(
    patchdiff._is_replayable_pair(p.protocol, p.runtime, '{"operations":[]}')::text, p.expected,
    p.protocol || ' with ' || p.runtime
)
from (
    values
    ('patchdiff-observed-batch/1', 'patchdiff-observed-batch-r1', 'true'),
    ('patchdiff-observed-batch/1', 'patchdiff-mvp-0.5.0', 'false'),
    ('patchdiff-tx/2', 'patchdiff-observed-batch-r1', 'false')
) as p (protocol, runtime, expected);
select * from finish();
rollback;
