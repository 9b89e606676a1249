begin;
select plan(11);
select is(patchdiff._change_id(g.span::jsonb, g.change_index), g.expected, g.span || ' at ' || g.change_index)
from (
    values
    ('{}', 1, 'chg_001'),
    ('{}', 999, 'chg_999'),
    ('{}', 1000, 'chg_1000'),
    ('5', 2, 'chg_002'),
    ('{"change_id": null}', 2, 'chg_002'),
    ('{"change_id": "A_z.0-9"}', 2, 'A_z.0-9'),
    ('{"change_id": ""}', 2, 'chg_002'),
    ('{"change_id": "a b"}', 2, 'chg_002'),
    ('{"change_id": 7}', 2, 'chg_002')
) as g (span, change_index, expected);
select is(
    patchdiff._change_id(jsonb_build_object('change_id', repeat('a', 64)), 1), repeat('a', 64), '64 characters'
);
select is(patchdiff._change_id(jsonb_build_object('change_id', repeat('a', 65)), 1), 'chg_001', '65 are too many');
select * from finish();
rollback;
