-- The order of judgement is the contract's: invalid text, request-key syntax, key recovery or conflict,
-- lineage, shape, guard presence and syntax, divergence, receipts, stale guards. The caller holds the target's lock.
create or replace function patchdiff._judge_request(
    target_file_id uuid,
    version bigint,
    current_hash text,
    diverged boolean,
    request_envelope text,
    request jsonb,
    proposal_failure jsonb
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_failure jsonb;
    v_existing_id uuid;
    v_existing_envelope text;
    v_existing_observation_id uuid;
begin
    if proposal_failure ->> 'failure_reason' = 'target_encoding_invalid' then
        return jsonb_build_object('outcome', 'refused', 'failure', proposal_failure);
    end if;
    v_failure := patchdiff._request_key_failure(request);
    if v_failure is null and request ->> 'client_request_id' is not null then
        select l.pdcp_log_id, l.request_envelope, l.observation_id
        into v_existing_id, v_existing_envelope, v_existing_observation_id
        from patchdiff.append_only_pdcp_logs as l
        where
            l.target_file_id = _judge_request.target_file_id
            and l.client_request_id = request ->> 'client_request_id';
        -- the receipt is no part of the fingerprint, and yet another receipt is another request
        if
            v_existing_envelope = _judge_request.request_envelope
            and v_existing_observation_id
            is not distinct from patchdiff._target_id(request -> 'observation' ->> 'observation_id')
        then
            return jsonb_build_object(
                'outcome', 'recovered',
                'recorded', patchdiff._recorded_attempt(_judge_request.target_file_id, v_existing_id)
            );
        elsif v_existing_id is not null then
            return jsonb_build_object(
                'outcome', 'refused',
                'failure', patchdiff._request_failure(
                    'context_invalid', 'request_key_conflict', 'precondition_guard',
                    'client_request_id already names another request on this target: '
                    'use a new key, or send the original request again.'
                ) || patchdiff._key_conflict(
                    v_existing_id, v_existing_envelope, _judge_request.request_envelope, request
                )
            );
        end if;
    end if;
    v_failure := coalesce(
        v_failure,
        patchdiff._lineage_failure(_judge_request.target_file_id, request),
        proposal_failure,
        patchdiff._guard_syntax_failure(request),
        case when diverged then patchdiff._diverged_failure() end,
        patchdiff._observation_failure(_judge_request.target_file_id, request),
        patchdiff._stale_guard_failure(request, version, current_hash)
    );
    if v_failure is null then
        return null;
    end if;
    return jsonb_build_object('outcome', 'refused', 'failure', v_failure);
end
$function$;
comment on function patchdiff._judge_request(uuid, bigint, text, boolean, text, jsonb, jsonb) is
'Judges everything of a request but its application, in the contract''s order. Null: go on. Otherwise an
object with outcome refused (and failure) or recovered (and recorded, the earlier outcome of the same
request).';
revoke all on function patchdiff._judge_request(uuid, bigint, text, boolean, text, jsonb, jsonb) from public;
