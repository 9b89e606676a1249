-- req: TX2-015, TX2-016, TX2-017, TX2-018, TX2-019, TX2-020, TX2-021, TX2-022, TX2-023, TX2-024, TX2-025
-- req: TX2-027, TX2-028, TX2-029, TX2-031, TX2-032, TX2-033, TX2-034, TX2-035, TX2-036, TX2-039
begin;
select plan(41);
create function pg_temp.evaluated(content text, spans jsonb) returns jsonb language sql as $$
    select patchdiff._evaluate_spans(content, length(content), spans)
$$;
create function pg_temp.span(
    start bigint, "end" bigint, expected_text text, replace text, fields jsonb default '{}'
) returns jsonb language sql as $$
    select jsonb_build_object('start', start, 'end', "end", 'expected_text', expected_text, 'replace', replace)
        || fields
$$;
create function pg_temp.hash(content text) returns text language sql as $$
    select encode(sha256(convert_to(content, 'UTF8')), 'hex')
$$;

-- what applies
select is(
    pg_temp.evaluated(g.content, g.spans),
    jsonb_build_object(
        'span_starts', g.span_starts, 'byte_starts', g.byte_starts, 'after_hash', pg_temp.hash(g.expected)
    ),
    g.description
)
from (
    values
    ('end is exclusive', 'abcdef', jsonb_build_array(pg_temp.span(0, 3, 'abc', 'x')), 'xdef', '{0}'::int [], '{0}'::int []),
    ('the end of the text', 'abc', jsonb_build_array(pg_temp.span(3, 3, '', 'd')), 'abcd', '{3}', '{3}'),
    ('up to the end', 'abc', jsonb_build_array(pg_temp.span(1, 3, 'bc', '')), 'a', '{1}', '{1}'),
    ('an empty text', '', jsonb_build_array(pg_temp.span(0, 0, '', E'\u4E2D')), E'\u4E2D', '{0}', '{0}'),
    (
        'ascending, in the text that is left', 'abc',
        jsonb_build_array(pg_temp.span(0, 1, 'a', 'xyz'), pg_temp.span(4, 5, 'c', 'd')), 'xyzbd', '{0,4}', '{0,4}'
    ),
    (
        'descending, in the text as it was read', E'\u4E2Db\u00E9d',
        jsonb_build_array(pg_temp.span(3, 4, 'd', E'\U0001F600'), pg_temp.span(1, 2, 'b', ''), pg_temp.span(0, 1, E'\u4E2D', 'a')),
        E'a\u00E9\U0001F600', '{3,1,0}', '{6,3,0}'
    ),
    (
        'there and back, ASCII at first', 'abcd',
        jsonb_build_array(
            pg_temp.span(1, 2, 'b', E'\u4E2D\u4E2D'), pg_temp.span(4, 5, 'd', E'\u00E9'), pg_temp.span(2, 3, E'\u4E2D', ''),
            pg_temp.span(3, 4, E'\u00E9', 'z')
        ),
        E'a\u4E2Dcz', '{1,4,2,3}', '{1,8,4,5}'
    ),
    (
        'what an earlier span wrote', 'a',
        jsonb_build_array(pg_temp.span(0, 1, 'a', 'bc'), pg_temp.span(1, 2, 'c', 'd')), 'bd', '{0,1}', '{0,1}'
    ),
    (
        'CRLF and CR become LF', E'a\nb',
        jsonb_build_array(pg_temp.span(0, 3, E'a\r\nb', E'c\r\nd\re')), E'c\nd\ne', '{0}', '{0}'
    ),
    (
        'after CRLF in a replacement', 'ab',
        jsonb_build_array(pg_temp.span(0, 1, 'a', E'\r\n\r'), pg_temp.span(2, 3, 'b', 'c')), E'\n\nc', '{0,2}', '{0,2}'
    ),
    (
        'the texts beside it', E'\u4E2Dab\u00E9',
        jsonb_build_array(
            pg_temp.span(2, 2, '', 'x', jsonb_build_object('expected_before', E'\u4E2Da', 'expected_after', E'b\u00E9'))
        ),
        E'\u4E2Daxb\u00E9', '{2}', '{4}'
    ),
    (
        'the texts beside it, in canonical form', E'\na\n',
        jsonb_build_array(
            pg_temp.span(1, 2, 'a', 'b', jsonb_build_object('expected_before', E'\r\n', 'expected_after', E'\r'))
        ),
        E'\nb\n', '{1}', '{1}'
    ),
    (
        'the texts beside it, in the text that is left', 'abc',
        jsonb_build_array(
            pg_temp.span(1, 2, 'b', 'xy'),
            pg_temp.span(3, 3, '', 'z', '{"expected_before": "axy", "expected_after": "c"}')
        ),
        'axyzc', '{1,3}', '{1,3}'
    ),
    (
        'nulls beside it', 'abc',
        jsonb_build_array(pg_temp.span(1, 2, 'b', 'x', '{"expected_before": null, "expected_after": null}')),
        'axc', '{1}', '{1}'
    ),
    (
        'quotes, patterns and backslashes', 'a%_''\',
        jsonb_build_array(pg_temp.span(1, 5, '%_''\', '$1\\&')), 'a$1\\&', '{1}', '{1}'
    )
) as g (description, content, spans, expected, span_starts, byte_starts);

-- what does not
select is(
    (pg_temp.evaluated(g.content, g.spans) -> 'failure')
    - array['code', 'failure_detail', 'failed_change_id', 'failure_reason', 'validation_stage'],
    g.expected::jsonb, g.description
)
from (
    values
    (
        'one past the end', 'abc', jsonb_build_array(pg_temp.span(3, 4, 'x', '')),
        '{"span_check": "bounds", "buffer_length": 3}'
    ),
    (
        'an insertion past the end', E'\u4E2D', jsonb_build_array(pg_temp.span(2, 2, '', 'x')),
        '{"span_check": "bounds", "buffer_length": 1}'
    ),
    (
        'the largest offsets', 'abc',
        jsonb_build_array(pg_temp.span(9223372036854775807, 9223372036854775807, '', 'x')),
        '{"span_check": "bounds", "buffer_length": 3}'
    ),
    (
        'the end of the text that is left', 'abc',
        jsonb_build_array(pg_temp.span(0, 3, 'abc', 'ab'), pg_temp.span(2, 3, 'c', '')),
        '{"span_check": "bounds", "buffer_length": 2}'
    ),
    (
        'another text', 'abc', jsonb_build_array(pg_temp.span(0, 2, 'abc', '')),
        '{"span_check": "expected_text", "buffer_length": 3, "actual_text": "ab", "actual_text_truncated": false,
          "expected_chars": 3, "actual_chars": 2}'
    ),
    (
        'an insertion with a text', 'abc', jsonb_build_array(pg_temp.span(1, 1, 'b', '')),
        '{"span_check": "expected_text", "buffer_length": 3, "actual_text": "", "actual_text_truncated": false,
          "expected_chars": 1, "actual_chars": 0}'
    ),
    (
        'a span without its text', 'abc', jsonb_build_array(pg_temp.span(1, 2, '', '')),
        '{"span_check": "expected_text", "buffer_length": 3, "actual_text": "b", "actual_text_truncated": false,
          "expected_chars": 0, "actual_chars": 1}'
    ),
    (
        'lengths count in canonical form', 'abc', jsonb_build_array(pg_temp.span(1, 2, E'\r\n\r\n', '')),
        '{"span_check": "expected_text", "buffer_length": 3, "actual_text": "b", "actual_text_truncated": false,
          "expected_chars": 2, "actual_chars": 1}'
    ),
    (
        'longer than what is before', 'abc', jsonb_build_array(pg_temp.span(1, 1, '', 'x', '{"expected_before": "aa"}')),
        '{"span_check": "expected_before", "buffer_length": 3, "actual_text": "a", "actual_text_truncated": false,
          "expected_chars": 2, "actual_chars": 1}'
    ),
    (
        'nothing is before', 'abc', jsonb_build_array(pg_temp.span(0, 0, '', 'x', '{"expected_before": "a"}')),
        '{"span_check": "expected_before", "buffer_length": 3, "actual_text": "", "actual_text_truncated": false,
          "expected_chars": 1, "actual_chars": 0}'
    ),
    (
        'after, but not beside', 'abcd', jsonb_build_array(pg_temp.span(0, 1, 'a', 'x', '{"expected_after": "cd"}')),
        '{"span_check": "expected_after", "buffer_length": 4, "actual_text": "bc", "actual_text_truncated": false,
          "expected_chars": 2, "actual_chars": 2}'
    ),
    (
        'longer than what is after', 'abc', jsonb_build_array(pg_temp.span(0, 2, 'ab', 'x', '{"expected_after": "cd"}')),
        '{"span_check": "expected_after", "buffer_length": 3, "actual_text": "c", "actual_text_truncated": false,
          "expected_chars": 2, "actual_chars": 1}'
    ),
    (
        'nothing is after', 'abc', jsonb_build_array(pg_temp.span(3, 3, '', 'x', '{"expected_after": "d"}')),
        '{"span_check": "expected_after", "buffer_length": 3, "actual_text": "", "actual_text_truncated": false,
          "expected_chars": 1, "actual_chars": 0}'
    ),
    (
        'beside it before an earlier span', 'abc',
        jsonb_build_array(
            pg_temp.span(1, 2, 'b', 'x'), pg_temp.span(2, 2, '', 'y', '{"expected_before": "b"}')
        ),
        '{"span_check": "expected_before", "buffer_length": 3, "actual_text": "x", "actual_text_truncated": false,
          "expected_chars": 1, "actual_chars": 1}'
    )
) as g (description, content, spans, expected);
select is(
    pg_temp.evaluated(
        E'\u4E2Da\u4E2Db\u4E2Dc', jsonb_build_array(pg_temp.span(5, 5, '', 'x', '{"expected_before": "ab"}'))
    ) -> 'failure' ->> 'actual_text',
    E'b\u4E2D',
    'a text that stands before, but not beside'
);

-- order of checks
select is(
    pg_temp.evaluated(
        'abc',
        jsonb_build_array(
            pg_temp.span(1, g."end", g.expected_text, 'x', jsonb_build_object(
                'expected_before', g.expected_before, 'expected_after', 'x'
            ))
        )
    ) -> 'failure' ->> 'span_check',
    g.expected, g.expected || ' comes first'
)
from (
    values
    (4, 'x', 'x', 'bounds'), (2, 'x', 'x', 'expected_text'), (2, 'b', 'x', 'expected_before'),
    (2, 'b', 'a', 'expected_after')
) as g ("end", expected_text, expected_before, expected);

-- what a failure says
select is(
    pg_temp.evaluated('abc', jsonb_build_array(pg_temp.span(4, 5, '', ''))),
    '{"failure": {"failure_reason": "span_out_of_bounds", "code": null, "failed_change_id": "chg_001",
      "validation_stage": "transaction_applicability", "span_check": "bounds", "buffer_length": 3, "failure_detail":
      "The span [4, 5) does not lie in the text of 3 code points that this change sees."}}'::jsonb,
    'out of bounds'
);
select is(
    pg_temp.evaluated(
        'abc', jsonb_build_array(pg_temp.span(0, 1, 'a', 'x'), pg_temp.span(0, 1, 'a', '', '{"change_id": "second"}'))
    ) -> 'failure' @> '{"failure_reason": "span_expected_text_mismatch", "failed_change_id": "second"}',
    true,
    'the span at fault is named'
);

-- great and many
create temporary table great on commit drop as
select
    g.content,
    pg_temp.hash(replace(g.content, E'\u6587', 'x')) as expected,
    (
        select jsonb_agg(pg_temp.span(3 * n + 1, 3 * n + 2, E'\u6587', 'x') order by n)
        from generate_series(0, 299) as n
    ) as ascending,
    (
        select jsonb_agg(pg_temp.span(3 * n + 1, 3 * n + 2, E'\u6587', 'x') order by n desc)
        from generate_series(0, 299) as n
    ) as descending
from (select repeat(E'\u4E2D\u6587\n', 300) || repeat(E'\u5B57', 300000) as content) as g;
select is(pg_temp.evaluated(content, ascending) ->> 'after_hash', expected, '300 spans in 900 KB, ascending') from great;
select is(pg_temp.evaluated(content, descending) ->> 'after_hash', expected, 'and descending') from great;
select is(
    pg_temp.evaluated(content, jsonb_build_array(pg_temp.span(300899, 300900, E'\u5B57', '')))
    ->> 'after_hash',
    pg_temp.hash(left(content, -1)),
    'its last character'
)
from great;
select is(
    pg_temp.evaluated(content, jsonb_build_array(pg_temp.span(0, 300900, content, E'\u4E2D'))) -> 'after_hash',
    to_jsonb(pg_temp.hash(E'\u4E2D')), 'the whole of it'
)
from great;
select is(
    pg_temp.evaluated(content, jsonb_build_array(pg_temp.span(300899, 300900, 'x', '')))
    -> 'failure' ->> 'actual_text',
    E'\u5B57', 'a mismatch at its end'
)
from great;
select * from finish();
rollback;
