create or replace function patchdiff.submit_spans(
    target_file_id text,
    intent text,
    spans jsonb,
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
    v_protocol constant text := 'patchdiff-tx/2';
    v_record constant text := patchdiff._span_record(submit_spans.intent, submit_spans.spans);
    v_request constant jsonb := jsonb_build_object(
        'client_request_id', submit_spans.client_request_id,
        'expected_target_version', submit_spans.expected_target_version,
        'expected_current_hash', submit_spans.expected_current_hash,
        'parent_pdcp_log_id', submit_spans.parent_pdcp_log_id,
        'attempt', submit_spans.attempt,
        'source', submit_spans.source
    );
    v_opened record;
    v_evaluation jsonb;
begin
    select o.outcome, o.current_content
    into v_opened
    from patchdiff.open_attempt(
        target_file_id => submit_spans.target_file_id,
        protocol_version => v_protocol,
        pdcp_content_hash => patchdiff._sha256_hex(v_record),
        request => v_request,
        proposal_failure => patchdiff._spans_shape_failure(submit_spans.intent, submit_spans.spans)
    ) as o;
    if v_opened.outcome ->> 'outcome' = 'open' then
        v_evaluation := patchdiff._evaluate_spans(
            v_opened.current_content, (v_opened.outcome -> 'target' ->> 'code_points')::bigint, submit_spans.spans
        );
    end if;
    return patchdiff._conclude_submission(
        submit_spans.target_file_id, v_protocol, v_record, v_request, v_opened.outcome, v_evaluation
    );
end
$function$;
comment on function patchdiff.submit_spans(text, text, jsonb, bigint, text, text, text, bigint, text) is
'Submits one transaction of spans (patchdiff-tx/2) and records its outcome, all spans or none. spans is an
array of span objects: start and end in code points of the text that the earlier spans left, end
exclusive; expected_text, which must stand there; replace; and optionally op, change_id, rationale, risk,
expected_before and expected_after. Order spans of one reading by descending start. At least one of
expected_target_version and expected_current_hash is required. Answers accepted or rejected with the
fields of patchdiff_submit_operations; every rejection of a known target, a malformed span included, is
one row of the log. The same request under the same client_request_id is answered from its row, with
deduplicated true; another one under that key is rejected and recorded.
Warnings, text contexts and the paths of a key conflict''s differences are the adapter''s work: a
submission from SQL is recorded and answered without them.
Contract: patchdiff_submit_operations.';
revoke all on function patchdiff.submit_spans(text, text, jsonb, bigint, text, text, text, bigint, text)
from public;
grant execute on function patchdiff.submit_spans(text, text, jsonb, bigint, text, text, text, bigint, text)
to patchdiff_editor;
