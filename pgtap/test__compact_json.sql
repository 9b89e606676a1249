begin;
select plan(7);
select is(patchdiff._compact_json(g.value::jsonb), g.expected, g.value)
from (
    values
    ('null', 'null'),
    ('"a, b: c"', '"a, b: c"'),
    ('[1, {"b" : [ true , null ], "a": {} }]', '[1,{"a":{},"b":[true,null]}]'),
    ('{"a, b: ": "c: \" , d\\", "e": ", "}', '{"e":", ","a, b: ":"c: \" , d\\"}'),
    ('["\\", ", "]', '["\\",", "]'),
    ('["\u4e2d\n\u007f"]', E'["\u4E2D\\n\u007F"]')
) as g (value, expected);
select is(patchdiff._compact_json(null), null, 'null');
select * from finish();
rollback;
