-- req: TX2-044
begin;
select plan(9);
select is(
    patchdiff._span_record(g.intent, g.spans::jsonb),
    '{"protocol":"patchdiff-tx/2","intent":' || g.expected || '}',
    coalesce(g.spans, 'null')
)
from (
    values
    (
        'i', '[{"replace": "r", "expected_text": "t", "end": 1, "start": 0}]',
        '"i","operations":[{"op":"span","start":0,"end":1,"expected_text":"t","replace":"r"}]'
    ),
    (
        '', '[{"expected_after": "a", "expected_before": null, "risk": "low", "rationale": "", "change_id": "c",
               "replace": "r", "expected_text": "t", "end": 1, "start": 0, "op": "span"}]',
        '"","operations":[{"op":"span","start":0,"end":1,"expected_text":"t","replace":"r","change_id":"c",'
        '"rationale":"","risk":"low","expected_before":null,"expected_after":"a"}]'
    ),
    (
        E'\u4E2D"\\\n', E'[{"replace": "\u4E2D\\" \\\\ \\r\\n \\u0001 /", "start": 0}]',
        E'"\u4E2D\\"\\\\\\n","operations":[{"op":"span","start":0,"replace":"\u4E2D\\" \\\\ \\r\\n \\u0001 /"}]'
    ),
    (
        'i', '[{"zz": {"b": 1, "a": [1, 2]}, "aa": 1.0, "op": "match"}, 5, null, [1, 2]]',
        '"i","operations":[{"op":"match","aa":1.0,"zz":{"a":[1,2],"b":1}},5,null,[1,2]]'
    ),
    ('i', '[]', '"i","operations":[]'),
    ('i', '[{}]', '"i","operations":[{"op":"span"}]'),
    ('i', '{"a": [1, 2]}', '"i","operations":{"a":[1,2]}'),
    (null, null, 'null,"operations":null')
) as g (intent, spans, expected);
select is(
    patchdiff._span_record('i', s.spans)::jsonb -> 'operations' -> 11 ->> 'start', '11', 'spans keep their order'
)
from (select jsonb_agg(jsonb_build_object('start', g.n) order by g.n) as spans from generate_series(0, 11) as g (n))
    as s;
select * from finish();
rollback;
