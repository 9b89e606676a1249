-- req: LIFE-003
begin;
select plan(13);
select has_function('patchdiff', '_canonical_text', array['text'], 'signature');
select is(patchdiff._canonical_text(g.given), g.expected, g.what)
from (
    values
    ('null', null, null),
    ('nothing', '', ''),
    ('no line end', 'a\r\n', 'a\r\n'),
    ('LF', E'a\nb\n', E'a\nb\n'),
    ('CRLF', E'a\r\nb\r\n', E'a\nb\n'),
    ('CR', E'a\rb\r', E'a\nb\n'),
    ('CR before CRLF', E'\r\r\n', E'\n\n'),
    ('LF before CR', E'\n\r', E'\n\n'),
    ('CRLF before LF', E'\r\n\n', E'\n\n'),
    ('CRLF twice', E'\r\n\r\n', E'\n\n'),
    ('CR at the very end', E'a\r\n\r', E'a\n\n'),
    ('other separators', E'\u2028\u2029\u0085\u000B\u000C\uFEFF', E'\u2028\u2029\u0085\u000B\u000C\uFEFF')
) as g (what, given, expected);
select * from finish();
rollback;
