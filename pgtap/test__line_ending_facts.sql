-- req: EOL-001, EOL-002, EOL-003, EOL-004, EOL-005, EOL-006, EOL-007, EOL-008, EOL-009, EOL-010, EOL-011
-- req: EOL-012
begin;
select plan(16);
select has_function('patchdiff', '_line_ending_facts', array['text'], 'signature');
select is(
    patchdiff._line_ending_facts(E'\u00E9'),
    '{
        "style": "none", "lf": 0, "crlf": 0, "cr": 0, "normalized": false, "source_code_points": 1,
        "source_utf8_bytes": 2,
        "source_sha256": "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"
    }'::jsonb,
    'exactly the contract''s fields'
);
select is(
    (f ->> 'style', f -> 'lf', f -> 'crlf', f -> 'cr', f -> 'normalized')::text, g.expected, quote_literal(g.given)
)
from (
    values
    ('', '(none,0,0,0,false)'),
    (E'a\nb\n', '(lf,2,0,0,false)'),
    (E'a\r\nb\r\n', '(crlf,0,2,0,true)'),
    (E'a\rb\r', '(cr,0,0,2,true)'),
    (E'a\nb\r\n', '(mixed,1,1,0,true)'),
    (E'a\nb\r', '(mixed,1,0,1,true)'),
    (E'a\r\nb\r', '(mixed,0,1,1,true)'),
    (E'\n\r\n\r', '(mixed,1,1,1,true)'),
    (E'\r\r\n', '(mixed,0,1,1,true)'),
    (E'\n\r', '(mixed,1,0,1,true)'),
    (E'\r\n\n', '(mixed,1,1,0,true)'),
    (E'\u2028\u0085\u000B\u000C', '(none,0,0,0,false)')
) as g (given, expected)
cross join lateral patchdiff._line_ending_facts(g.given) as f;
select is(
    (f -> 'source_code_points', f -> 'source_utf8_bytes', f -> 'lf')::text, '(6,12,1)',
    'sizes count both characters of a pair, code points and bytes apart'
) from patchdiff._line_ending_facts(E'\U0001F600\r\n\u4E2D\n\u00E9') as f;
select is(
    f ->> 'source_sha256', 'd37a6c0b581046eec04a3d815bcd9fadbce89bd21784279deff41836a766d570',
    'the hash is that of the raw text'
) from patchdiff._line_ending_facts(E'a\r\nb\r\nc') as f;
select * from finish();
rollback;
