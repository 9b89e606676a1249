begin;
select plan(44);
select has_function('patchdiff', 'displayed', array['text', 'bigint'], 'signature');
select function_privs_are(
    'patchdiff', 'displayed', array['text', 'bigint'], r.name, array['EXECUTE'], r.name || ' may call it'
)
from (values ('patchdiff_editor'), ('patchdiff_reader'), ('pg_read_all_data')) as r (name);
select is(patchdiff.displayed(c.source, 100), c.expected, c.what)
from (
    values
    ('plain text', 'plain text', 'plain text'), ('', '', 'nothing'), (null, null, 'null'),
    (E'a\nb\tc\rd', 'a\nb\tc\rd', 'line feed, tab and carriage return'),
    ('\n', '\\n', 'a backslash of the text itself'),
    (E'\x1b[31mred\x1b[0m', '\x1b[31mred\x1b[0m', 'colours'),
    (E'\x07\x08\x7f', '\x07\x08\x7f', 'bell, backspace, delete'),
    (E'\u009b1m', '\x9b1m', 'a control character of eight bits'), (E'a\u00adb', 'a\xadb', 'a soft hyphen'),
    (E'e\u0301', 'e\u0301', 'a combining accent'), (E'\u00e9', E'\u00e9', 'the same in one character'),
    (E'a\u200b\u200d\u202e\u2066b', 'a\u200b\u200d\u202e\u2066b', 'zero width, joiner, direction'),
    (E'\ufeff\ufe0f', '\ufeff\ufe0f', 'byte order mark, variation'), (E'\ue000', '\ue000', 'private use'),
    (E'\U000e0041', '\U000e0041', 'a tag'), (E'\u2028', '\u2028', 'a line separator'),
    (E'\u6f22\u5b57 \U0001f600', E'\u6f22\u5b57 \U0001f600', 'wide characters as they are'),
    ('100% _ $1 :x ''"', '100% _ $1 :x ''"', 'what is special elsewhere')
) as c (source, expected, what);
-- cut to columns
select is(patchdiff.displayed(c.source, c.columns), c.expected, c.source || ' on ' || coalesce(c.columns::text, 'null'))
from (
    values
    ('abc', 3, 'abc'), ('abcd', 3, E'ab\u2026'), ('abcd', 1, E'\u2026'), ('a', 1, 'a'), ('', 1, ''),
    (E'ab\n', 4, 'ab\n'), (E'ab\nc', 4, E'ab\u2026'), (E'ab\n', 3, E'ab\u2026'),
    (E'\x1b', 3, E'\u2026'), (E'\x1b', 4, '\x1b'),
    (E'\u6f22\u5b57', 4, E'\u6f22\u5b57'), (E'\u6f22\u5b57', 3, E'\u6f22\u2026'),
    (E'a\u6f22\u5b57', 4, E'a\u6f22\u2026'),
    (E'\u6f22', 1, E'\u2026'), ('abc', 0, E'\u2026'), ('abc', -5, E'\u2026'), ('abc', null, E'\u2026'),
    (E'\U0001f600', 2, E'\U0001f600'), (E'\U0001f600x', 2, E'\u2026')
) as c (source, columns, expected);
select is(
    length(patchdiff.displayed(repeat('x', 1000000), 9223372036854775807)), 10000,
    'never more than ten thousand columns'
);
-- every character on its own: never an error, never wider than it may be
select is_empty(
    $$select to_hex(n) from generate_series(1, 1114111) as n
      where n not between 55296 and 57343 and n % 97 in (0, 1)
          and (patchdiff.displayed(chr(n), 12) is null or length(patchdiff.displayed(chr(n), 12)) > 10)$$,
    'characters of every plane'
);
select is(
    patchdiff.displayed(string_agg(chr(n), '' order by n), 1000),
    string_agg(case when n in (9, 10, 13) then case n when 9 then '\t' when 10 then '\n' else '\r' end
        when n < 32 or n = 127 then '\x' || lpad(to_hex(n), 2, '0') 
        when n = 92 then '\\' else chr(n) end, '' order by n),
    'all of ASCII'
) from generate_series(1, 127) as n;
select * from finish();
rollback;
