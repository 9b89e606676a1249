-- req: SUBM-035, SUBM-038, SUBM-039
begin;
select plan(2);
select is(
    patchdiff._change_facts('c', 2, null, 7, 'alpha', 'g😀'),
    '{"change_id": "c", "change_index": 2, "span_start": 7, "span_end": 12, "matched_chars": 5,
      "replacement_chars": 2,
      "matched_sha256": "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8",
      "replacement_sha256": "68cf93e39b1a427191ad24e759cf3e81c85a9a2f2e11136fda97ed5de61533ae"}'::jsonb,
    'span and lengths in code points, hashes of the UTF-8 bytes'
);
select is(
    patchdiff._change_facts('c', 1, 'span', 0, '', 'x') ->> 'operation', 'span', 'an operation that is no match is named'
);
select * from finish();
rollback;
