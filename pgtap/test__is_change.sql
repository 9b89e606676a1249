-- req: TX1-002, TX1-003, TX1-005, TX1-013, TX1-014, TX1-015, TX2-005, TX2-009, TX2-014
begin;
select plan(39);
select ok(patchdiff._is_change('patchdiff-tx/1', c::jsonb), 'an edit: ' || c)
from unnest(array[
    '{"match": "a", "replace": ""}',
    '{"match": "a", "replace": "b", "change_id": null, "rationale": null, "risk": null, "occurrence_index": null,
      "anchor_before": null, "anchor_after": ""}',
    '{"match": "a", "replace": "b", "change_id": "A-z.0_9", "rationale": "", "risk": "high", "occurrence_index": 7,
      "anchor_before": ""}'
]) as c;
select ok(not patchdiff._is_change('patchdiff-tx/1', c::jsonb), 'no edit: ' || c)
from unnest(array[
    '5', '[]', '{}', '{"match": "a"}', '{"match": "", "replace": "b"}', '{"match": null, "replace": "b"}',
    '{"match": "a", "replace": null}', '{"match": "a", "replace": "b", "op": "match"}',
    '{"match": "a", "replace": "b", "start": 1}', '{"match": "a", "replace": "b", "risk": "zzz"}',
    '{"match": "a", "replace": "b", "rationale": {"x": 1}}', '{"match": "a", "replace": "b", "change_id": "a b"}',
    '{"match": "a", "replace": "b", "change_id": "a\n"}', '{"match": "a", "replace": "b", "change_id": ""}',
    '{"match": "a", "replace": "b", "occurrence_index": 0}', '{"match": "a", "replace": "b", "occurrence_index": 1.0}',
    '{"match": "a", "replace": "b", "occurrence_index": true}', '{"match": "a", "replace": "b", "anchor_after": 1}'
]) as c;
select ok(patchdiff._is_change('patchdiff-tx/2', c::jsonb), 'an operation: ' || c)
from unnest(array[
    '{"op": "match", "match": "a", "replace": "b", "occurrence_index": 1}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": "", "replace": "b"}',
    '{"op": "span", "start": 3, "end": 4, "expected_text": "a", "replace": "", "expected_before": null,
      "expected_after": "x", "risk": "low", "rationale": "r", "change_id": "c"}'
]) as c;
select ok(not patchdiff._is_change('patchdiff-tx/2', c::jsonb), 'no operation: ' || c)
from unnest(array[
    '{"match": "a", "replace": "b"}', '{"op": "insert", "match": "a", "replace": "b"}',
    '{"op": "match", "match": "", "replace": "b"}',
    '{"op": "match", "match": "a", "replace": "b", "start": 1}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": ""}',
    '{"op": "span", "start": 0, "expected_text": "", "replace": "b"}',
    '{"op": "span", "start": -1, "end": 0, "expected_text": "", "replace": "b"}',
    '{"op": "span", "start": 0, "end": 1.0, "expected_text": "", "replace": "b"}',
    '{"op": "span", "start": true, "end": 0, "expected_text": "", "replace": "b"}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": null, "replace": "b"}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": "", "replace": "b", "expected_before": ""}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": "", "replace": "b", "match": "a"}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": "", "replace": "b", "anchor_before": "a"}',
    '{"op": "span", "start": 0, "end": 0, "expected_text": "", "replace": "b", "occurrence_index": 1}',
    '"span"'
]) as c;
select * from finish();
rollback;
