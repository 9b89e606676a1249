-- req: TX3-010, TX3-011, TX3-012, TX3-013, TX3-014, TX3-015, TX3-016
begin;
select plan(12);
create function pg_temp.summary(replacement text) returns text language sql as $$
    select concat_ws(' ', d ->> 'limit_exceeded', d ->> 'actual', d ->> 'limit', d ->> 'canonical_code_points',
        d ->> 'canonical_utf8_bytes', d ->> 'canonical_would_fit')
    from (select patchdiff._replacement_refusal(replacement) -> 'diagnostic' as d) as r
$$;
select is(patchdiff._replacement_refusal(null), null, 'null');
select is(patchdiff._replacement_refusal(''), null, 'nothing');
select is(patchdiff._replacement_refusal(repeat('a', 1000000)), null, '1,000,000 code points');
select is(patchdiff._replacement_refusal(repeat(E'\U0001F600', 262144)), null, '1,048,576 bytes');
select is(
    patchdiff._replacement_refusal(repeat('a', 1000001)),
    '{"status": "invalid_argument", "code": "replacement_too_large", "pdcp_log_id": null, "failure_detail":
      "The replacement is too large: raw_code_points is 1000001, the limit 1000000; where only parts of the text change, submit those as spans.",
      "diagnostic": {"code": "replacement_too_large", "limit_exceeded": "raw_code_points", "actual": 1000001,
      "limit": 1000000, "canonical_code_points": 1000001, "canonical_utf8_bytes": 1000001,
      "canonical_would_fit": false}}'::jsonb,
    '1,000,001 code points'
);
select is(
    pg_temp.summary(repeat(E'\U0001F600', 262144) || 'a'), 'raw_utf8_bytes 1048577 1048576 262145 1048577 false',
    '1,048,577 bytes'
);
select is(
    pg_temp.summary(repeat(E'\u4E2D', 1000001)), 'raw_code_points 1000001 1000000 1000001 3000003 false',
    'code points come before bytes'
);
select is(
    pg_temp.summary(E'\r\n' || repeat('a', 999999)), 'raw_code_points 1000001 1000000 1000000 1000000 true',
    'one CRLF too many'
);
select is(
    pg_temp.summary(repeat(E'\U0001F600', 262143) || E'\r\n\r\nx'),
    'raw_utf8_bytes 1048577 1048576 262146 1048575 true', 'CRLF that take it over the bytes'
);
select is(
    pg_temp.summary(E'\r' || repeat('a', 1000000)), 'raw_code_points 1000001 1000000 1000001 1000001 false',
    'a lone CR is one character in either form'
);
select is(
    patchdiff._replacement_refusal(E'\r\n' || repeat('a', 999999)) ->> 'failure_detail'
    like '%send the text with LF line endings, which fits.', true, 'and says what to do'
);
select is(
    patchdiff._replacement_refusal(repeat(E'\r\n', 500000)), null, '500,000 CRLF are 1,000,000 code points'
);
select * from finish();
rollback;
