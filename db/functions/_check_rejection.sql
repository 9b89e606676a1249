create or replace function patchdiff._check_rejection(
    failure jsonb,
    diagnostic jsonb
) returns void
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if (
        jsonb_typeof(failure) = 'object'
        and jsonb_typeof(failure -> 'failure_reason') = 'string'
        and jsonb_typeof(failure -> 'failure_detail') = 'string'
        and length(failure ->> 'failure_detail') between 1 and 2000
        and coalesce(jsonb_typeof(failure -> 'failed_change_id'), 'null') in ('string', 'null')
        and length(coalesce(failure ->> 'failed_change_id', '')) <= 64
        and jsonb_typeof(diagnostic) = 'object'
        and jsonb_typeof(diagnostic -> 'retryable') = 'boolean'
        and diagnostic ->> 'validation_stage' in (
            'protocol_validation', 'precondition_guard', 'transaction_applicability'
        )
        and octet_length(diagnostic::text) <= 65536
    ) is not true then
        raise exception 'a rejection needs a failure and a diagnostic of their shape'
            using errcode = 'PD022',
            hint = 'failure has failure_reason and failure_detail (1 to 2000 code points); '
            || 'diagnostic has retryable and validation_stage.';
    end if;
end
$function$;
comment on function patchdiff._check_rejection(jsonb, jsonb) is
'Raises PD022 unless failure and diagnostic of a rejection have the members that every rejection has.';
revoke all on function patchdiff._check_rejection(jsonb, jsonb) from public;
