begin;
select plan(11);
select has_function('patchdiff', '_slice', array['text', 'boolean', 'bigint', 'bigint'], 'signature');
select is(patchdiff._slice(g.content, g.is_ascii, g.start, g.length), g.expected, quote_literal(g.expected))
from (
    values
    ('abcdef', true, 0, 2, 'ab'),
    ('abcdef', true, 4, 9, 'ef'),
    ('abcdef', true, 6, 1, ''),
    ('abcdef', true, 9223372036854775807, 9223372036854775807, ''),
    ('abcdef', false, 1, 3, 'bcd'),
    (E'\U0001F600\u00E9x\u4E2D', false, 1, 2, E'\u00E9x'),
    (E'\U0001F600\u00E9x\u4E2D', false, 3, 9, E'\u4E2D'),
    (E'\U0001F600\u00E9x\u4E2D', false, 4, 9, ''),
    (E'\U0001F600\u00E9x\u4E2D', false, 9223372036854775807, 1, ''),
    ('', true, 0, 8000, '')
) as g (content, is_ascii, start, length, expected);
select * from finish();
rollback;
