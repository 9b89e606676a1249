-- req: READ-025, READ-026, READ-027
begin;
select plan(8);
select has_function('patchdiff', '_lines', array['text'], 'signature');
select is(patchdiff._lines(g.given), g.expected, quote_literal(g.given))
from (
    values
    ('', array['']),
    ('a', array['a']),
    (E'\n', array['', '']),
    (E'a\n', array['a', '']),
    (E'a\nb', array['a', 'b']),
    (E'a\n\n\nb', array['a', '', '', 'b']),
    (E'a\rb\r\nc\u2028d\u2029e\u0085f\u000Bg\u000Ch', array[E'a\rb\r', E'c\u2028d\u2029e\u0085f\u000Bg\u000Ch'])
) as g (given, expected);
select * from finish();
rollback;
