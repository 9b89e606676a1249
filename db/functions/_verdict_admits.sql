create or replace function patchdiff._verdict_admits(
    verdict jsonb,
    failure jsonb,
    observed boolean
) returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if verdict is null then
        return failure ->> 'failure_reason' in (
            'match_absent', 'match_ambiguous', 'disambiguation_invalid', 'sequential_match_invalid',
            'span_out_of_bounds', 'span_expected_text_mismatch'
        ) or (
            observed
            and failure ->> 'failure_reason' = 'context_invalid'
            and failure ->> 'code' in (
                'STALE_OBSERVATION_SCOPE', 'FILE_TOO_LARGE', 'STRUCTURE_LIMIT', 'STRUCTURE_TIMEOUT',
                'STRUCTURE_CRASHED', 'STRUCTURE_UNAVAILABLE'
            )
        );
    end if;
    return verdict ->> 'outcome' = 'refused'
        and verdict -> 'failure' ->> 'failure_reason' = failure ->> 'failure_reason'
        and verdict -> 'failure' ->> 'code' is not distinct from failure ->> 'code';
end
$function$;
comment on function patchdiff._verdict_admits(jsonb, jsonb, boolean) is
'Whether a failure may be recorded under a verdict of _judge_request: the same refusal, or, where
nothing was refused, a failure of application, or for an observed submission one of the structural engine.';
revoke all on function patchdiff._verdict_admits(jsonb, jsonb, boolean) from public;
