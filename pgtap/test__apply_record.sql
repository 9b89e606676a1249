-- req: TX1-046, TX2-039, BATCH-011, BATCH-014, BATCH-018
begin;
select plan(18);
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
create function pg_temp.receipt(name text, first bigint, past bigint) returns patchdiff.target_scope_observations
language sql as $$
    select jsonb_populate_record(null::patchdiff.target_scope_observations, jsonb_build_object(
        'observation_id', format('%s-0000-4000-8000-000000000000', repeat(receipt.name, 8)),
        'observation_bundle_id', 'bbbbbbbb-0000-4000-8000-000000000000', 'scope_start', first, 'scope_end', past
    ))
$$;
create function pg_temp.group_of(name text, operations text) returns text language sql as $$
    select format('{"observation_id":"%s-0000-4000-8000-000000000000","operations":[%s]}', repeat(group_of.name, 8), operations)
$$;
create function pg_temp.observed(
    content text, span_starts bigint[], receipts patchdiff.target_scope_observations[], groups text,
    bundle text default 'bbbbbbbb-0000-4000-8000-000000000000', out text text, out places text, out misfit text
) language sql as $$
    select
        convert_from(a.result, 'UTF8'),
        (select string_agg(f ->> 'span_start', ' ' order by f -> 'change_index') from jsonb_array_elements(a.facts) as f),
        a.misfit
    from patchdiff._apply_record(
        'patchdiff-observed-batch/1', format(
            '{"protocol":"patchdiff-observed-batch/1","intent":"i","observation_bundle_id":"%s","groups":[%s]}', bundle, groups
        ),
        observed.content, length(observed.content) = octet_length(observed.content),
        observed.span_starts, null, observed.receipts
    ) as a
$$;
-- é one two three: one from 2 to 5, two from 6 to 9
create temp table batches as
select
    pg_temp.group_of(
        '1',
        '{"op":"span","start":0,"end":1,"expected_text":"o","replace":"longer"},{"op":"match","match":"ne","replace":""}'
    ) as first_group,
    pg_temp.group_of(
        '2', '{"op":"span","start":1,"end":1,"expected_text":"","replace":"é","expected_before":"t","expected_after":"wo"}'
    ) as second_group,
    pg_temp.receipt('1', 2, 5) as first_receipt,
    pg_temp.receipt('2', 6, 9) as second_receipt;
select is(
    (select row(o.text, o.places, o.misfit)::text), row('é longer téwo three', '2 8 7', null)::text,
    'a batch: each group in its own scope, whatever the others do'
)
from batches as b cross join lateral pg_temp.observed(
    'é one two three', '{2,8,7}', array[b.first_receipt, b.second_receipt], b.first_group || ',' || b.second_group
) as o;
select is(
    (select row(o.text, o.places, o.misfit)::text), row('é longer téwo three', '7 2 8', null)::text,
    'in another order of its groups too'
)
from batches as b cross join lateral pg_temp.observed(
    'é one two three', '{7,2,8}', array[b.second_receipt, b.first_receipt], b.second_group || ',' || b.first_group
) as o;
select is(o.misfit, c.expected, c.expected)
from batches as b
cross join lateral (
    values
    ('{2,8,7}'::bigint [], array[b.first_receipt, b.second_receipt], b.first_group || ',' || b.second_group,
     'cccccccc-0000-4000-8000-000000000000', 'a receipt is not of the bundle that the record names'),
    ('{2,8}', array[b.first_receipt, b.second_receipt], b.first_group, null, 'a receipt has no change'),
    ('{2,8,7}', array[b.first_receipt], b.first_group || ',' || b.second_group, null, 'a change has no receipt, or several'),
    ('{7}', array[pg_temp.receipt('2', 5, 9)], b.second_group, null, 'a span was not found where the record puts it'),
    ('{7}', array[pg_temp.receipt('2', 6, 8)], b.second_group, null, 'change 1 does not lie inside its scope'),
    ('{7}', null, b.second_group, null, 'a batch has no receipts')
) as c (starts, receipts, groups, bundle, expected)
cross join lateral pg_temp.observed(
    'é one two three', c.starts, c.receipts, c.groups, coalesce(c.bundle, 'bbbbbbbb-0000-4000-8000-000000000000')
) as o;
select * from finish();
rollback;
