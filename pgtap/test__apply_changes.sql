-- req: TX1-033, TX1-044
begin;
select plan(12);
create function pg_temp.applied(
    content text, matched text[], replacements text[], span_starts bigint[], byte_starts bigint[]
) returns text language sql as $$
    select coalesce(a.misfit, convert_from(a.result, 'UTF8'))
    from patchdiff._apply_changes(
        content, length(content) = octet_length(content), matched, replacements, span_starts, byte_starts
    ) as a
$$;
select is(pg_temp.applied('abc', '{b}', '{XY}', '{1}', '{1}'), 'aXYc', 'one change');
select is(
    pg_temp.applied('a b c', '{a,b,c}', '{11,22,""}', '{0,3,6}', '{0,3,6}'), '11 22 ', 'ascending: later places moved'
);
select is(pg_temp.applied('a b c', '{c,b,a}', '{33,22,11}', '{4,2,0}', '{4,2,0}'), '11 22 33', 'descending');
select is(
    pg_temp.applied('cat', '{cat,cat}', '{"cat dog",cow}', '{0,0}', '{0,0}'),
    'cow dog',
    'a later change finds what an earlier one put in place'
);
select is(
    pg_temp.applied('ab', '{b,a,YZ}', '{YZ,W,V}', '{1,0,1}', '{1,0,1}'), 'WV', 'back and forth'
);
select is(
    pg_temp.applied('é😀x', '{x,😀}', '{ü,y}', '{2,1}', '{6,2}'), 'éyü', 'beyond ASCII: bytes and code points differ'
);
select is(pg_temp.applied('', '{""}', '{new}', '{0}', '{0}'), 'new', 'into an empty text');
select is(
    pg_temp.applied('abc', '{x}', '{y}', '{1}', '{1}'),
    'change 1: the text at code point 1 is not what the record says',
    'another text stands there'
);
select is(
    pg_temp.applied('abc', '{c}', '{y}', '{3}', '{3}'),
    'change 1: the text at code point 3 is not what the record says',
    'beyond the end'
);
select is(
    pg_temp.applied('abc', '{a}', '{y}', '{-1}', '{-1}'),
    'change 1: the text at code point -1 is not what the record says',
    'before the beginning'
);
select is(
    pg_temp.applied('éa', '{a}', '{y}', '{2}', '{2}'),
    'change 1: byte 2 is not the start of code point 2',
    'bytes and code points that do not belong together'
);
select is(
    pg_temp.applied('aba', '{a,a}', '{x,y}', '{0,1}', '{0,2}'),
    'change 2: byte 2 is not the start of code point 1',
    'a place of another occurrence'
);
select * from finish();
rollback;
