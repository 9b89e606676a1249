begin;
select plan(9);
create function pg_temp.tx1(edits text) returns jsonb language sql as $$
    select patchdiff._record_manifest(
        'patchdiff-tx/1', '{"protocol":"patchdiff-tx/1","intent":"why","edits":' || edits || '}'
    )
$$;
-- SHA-256 of a, of b with a line feed, and of the empty text
select is(
    pg_temp.tx1('[{"match":"a","replace":"b\r\n","rationale":"r","risk":"high"},
                  {"match":"b\r\n","replace":"","change_id":"mine"}]'),
    '{
        "transaction_intent": "why",
        "changes": [
            {
                "change_id": "chg_001", "risk": "high", "rationale": "r",
                "facts": {
                    "change_id": "chg_001", "change_index": 1, "matched_chars": 1, "replacement_chars": 2,
                    "matched_sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
                    "replacement_sha256": "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f"
                }
            },
            {
                "change_id": "mine", "risk": null, "rationale": null,
                "facts": {
                    "change_id": "mine", "change_index": 2, "matched_chars": 2, "replacement_chars": 0,
                    "matched_sha256": "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f",
                    "replacement_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
                }
            }
        ]
    }'::jsonb,
    'what a match decides: not its place'
);
select is(
    patchdiff._record_manifest(
        'patchdiff-tx/2',
        '{"protocol":"patchdiff-tx/2","intent":"why","operations":[{"op":"span","start":3,"end":4,"expected_text":"a",'
        || '"replace":""}]}'
    ) #> '{changes,0,facts}',
    '{
        "change_id": "chg_001", "change_index": 1, "operation": "span", "span_start": 3, "span_end": 4,
        "matched_chars": 1, "replacement_chars": 0,
        "matched_sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        "replacement_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    }'::jsonb,
    'a span decides its place too'
);
select is(
    patchdiff._record_manifest(
        'patchdiff-tx/3', '{"protocol":"patchdiff-tx/3","intent":"why","replacement":"a"}'
    ) #> '{changes,0}',
    '{
        "change_id": "chg_001", "risk": null, "rationale": null,
        "facts": {
            "change_id": "chg_001", "change_index": 1, "operation": "replace_all", "span_start": 0,
            "replacement_chars": 1,
            "replacement_sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
        }
    }'::jsonb,
    'a whole replacement does not say what it replaces'
);
select is(pg_temp.tx1(r.edits), null, r.what)
from (
    values
    ('[]', 'no change'), ('"x"', 'edits that are none'), ('[{"match":"a"}]', 'a malformed change'),
    ('[', 'no JSON'), (repeat('[', 100000), 'nested too deep')
) as r (edits, what);
select is(
    patchdiff._record_manifest('patchdiff-invalid-input/1', '{"protocol":"patchdiff-invalid-input/1"}'), null,
    'evidence of invalid input'
);
select * from finish();
rollback;
