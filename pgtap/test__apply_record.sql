-- req: TX1-046, TX2-039
begin;
select plan(10);
create function pg_temp.applied(
    content text, protocol text, members text, span_starts bigint[], byte_starts bigint[], out text text, out facts jsonb,
    out risks text[], out misfit text
) language sql as $$
    select convert_from(a.result, 'UTF8'), a.facts, a.risks, a.misfit
    from patchdiff._apply_record(
        applied.protocol, format('{"protocol":"%s","intent":"i",%s}', applied.protocol, applied.members),
        applied.content, length(applied.content) = octet_length(applied.content),
        applied.span_starts, applied.byte_starts, null
    ) as a
$$;
create temp table mixed on commit drop as
select a.* from pg_temp.applied(
    'é beta', 'patchdiff-tx/2',
    '"operations":[{"op":"match","match":"beta","replace":"b","risk":"low"},'
    || '{"op":"span","start":0,"end":1,"expected_text":"é","replace":"e","expected_after":" b"}]',
    '{2,0}', '{3,0}'
) as a;
select is((select text from mixed), 'e b', 'matches and spans, the context of the text that the span sees');
select is((select misfit from mixed), null, 'all fits');
select is((select risks from mixed), array['low', null], 'each with its risk');
select is(
    (select jsonb_path_query_array(facts, '$[*].span_end') from mixed), '[6, 1]'::jsonb, 'and its place in code points'
);
select is((select facts -> 1 ->> 'matched_chars' from mixed), '1', 'context is no part of what was matched');
create temp table whole on commit drop as
select a.* from pg_temp.applied('old', 'patchdiff-tx/3', '"replacement":"new\r\n"', '{0}', '{0}') as a;
select is((select text from whole), E'new\n', 'a whole replacement, in canonical text');
select is((select facts -> 0 ->> 'span_end' from whole), '3', 'spans the whole old text');
select is(
    (
        select a.misfit from pg_temp.applied(
            'abc', 'patchdiff-tx/2',
            '"operations":[{"op":"span","start":1,"end":1,"expected_text":"","replace":"x","expected_before":"b"}]', '{1}', '{1}'
        ) as a
    ),
    'change 1: the text at code point 0 is not what the record says',
    'another text stands before'
);
select throws_ok(
    $$ select pg_temp.applied('a', 'patchdiff-tx/1', '"edits":[{"match":"a","replace":""}]', '{}', '{}') $$,
    'PD021', null, 'no place'
);
select throws_ok(
    $$ select pg_temp.applied('a', 'patchdiff-tx/1', '"edits":[]', '{}', '{}') $$, 'PD020', null, 'no record'
);
select * from finish();
rollback;
