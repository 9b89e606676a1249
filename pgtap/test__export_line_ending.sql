-- req: EOL-023, EOL-024, EOL-025, EOL-027
begin;
select plan(11);
select has_function('patchdiff', '_export_line_ending', array['text', 'text'], 'signature');
select is(patchdiff._export_line_ending(g.format, g.style), g.expected, g.format || ' after ' || coalesce(g.style, 'null'))
from (
    values
    ('original_text', 'crlf', 'lf'),
    ('canonical_lf', 'mixed', 'lf'),
    ('crlf', null, 'crlf'),
    ('original_eol', 'none', 'lf'),
    ('original_eol', 'lf', 'lf'),
    ('original_eol', 'crlf', 'crlf'),
    ('original_eol', 'cr', 'cr'),
    ('original_eol', 'mixed', null),
    ('original_eol', null, null),
    ('other', 'lf', null)
) as g (format, style, expected);
select * from finish();
rollback;
