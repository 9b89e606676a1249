create or replace function patchdiff.submit_replacement(
    target_file_id text,
    intent text,
    replacement text,
    expected_target_version bigint default null,
    expected_current_hash text default null,
    source text default 'model_response',
    parent_pdcp_log_id text default null,
    attempt bigint default null,
    client_request_id text default null
) returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_protocol constant text := 'patchdiff-tx/3';
    v_record constant text := '{"protocol":"patchdiff-tx/3","intent":'
        || coalesce(to_json(submit_replacement.intent)::text, 'null')
        || ',"replacement":' || coalesce(to_json(submit_replacement.replacement)::text, 'null') || '}';
    v_request constant jsonb := jsonb_build_object(
        'client_request_id', submit_replacement.client_request_id,
        'expected_target_version', submit_replacement.expected_target_version,
        'expected_current_hash', submit_replacement.expected_current_hash,
        'parent_pdcp_log_id', submit_replacement.parent_pdcp_log_id,
        'attempt', submit_replacement.attempt,
        'source', submit_replacement.source
    );
    v_refusal constant jsonb := patchdiff._replacement_refusal(submit_replacement.replacement);
    v_outcome jsonb;
    v_evaluation jsonb;
begin
    select o.outcome
    into v_outcome
    from patchdiff.open_attempt(
        target_file_id => submit_replacement.target_file_id,
        protocol_version => v_protocol,
        pdcp_content_hash => patchdiff._sha256_hex(v_record),
        request => v_request,
        proposal_failure => patchdiff._replacement_shape_failure(
            submit_replacement.intent, submit_replacement.replacement
        )
    ) as o;
    -- only what concerns the request key is judged before the limits
    if
        v_refusal is not null
        and v_outcome ->> 'outcome' <> 'recovered'
        and coalesce(v_outcome -> 'failure' ->> 'code', '')
        not in ('request_key_conflict', 'invalid_client_request_id')
    then
        return v_refusal;
    end if;
    if v_outcome ->> 'outcome' = 'open' then
        v_evaluation := jsonb_build_object(
            'span_starts', array[0],
            'byte_starts', array[0],
            'after_hash', patchdiff._sha256_hex(patchdiff._canonical_text(submit_replacement.replacement))
        );
    end if;
    return patchdiff._conclude_submission(
        submit_replacement.target_file_id, v_protocol, v_record, v_request, v_outcome, v_evaluation
    );
end
$function$;
comment on function patchdiff.submit_replacement(text, text, text, bigint, text, text, text, bigint, text) is
'Submits the replacement of a target''s whole text (patchdiff-tx/3) and records its outcome. An empty
replacement is valid; line endings become LF. At least one of expected_target_version and
expected_current_hash is required. Answers accepted or rejected with the fields of
patchdiff_submit_replacement; every rejection of a known target is one row of the log. The same request
under the same client_request_id is answered from its row, with deduplicated true; another one under that
key is rejected and recorded. A fresh replacement beyond 1,000,000 code points or 1,048,576 UTF-8 bytes, as
submitted or in canonical form, is answered invalid_argument with code replacement_too_large, and nothing is
recorded.
Warnings, text contexts and the paths of a key conflict''s differences are the adapter''s work: a
submission from SQL is recorded and answered without them.
Contract: patchdiff_submit_replacement.';
revoke all on function patchdiff.submit_replacement(text, text, text, bigint, text, text, text, bigint, text)
from public;
grant execute on function patchdiff.submit_replacement(text, text, text, bigint, text, text, text, bigint, text)
to patchdiff_editor;
