create or replace function patchdiff._opened_outcome(
    verdict jsonb,
    version bigint,
    current_hash text,
    code_points bigint
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return coalesce(verdict, '{"outcome": "open"}') || jsonb_build_object(
        'target', jsonb_build_object(
            'version', version, 'current_hash', current_hash, 'code_points', code_points
        )
    );
end
$function$;
comment on function patchdiff._opened_outcome(jsonb, bigint, text, bigint) is
'A verdict of _judge_request as open_attempt and preview_attempt answer it: open where there is none, with
the identity of the target.';
revoke all on function patchdiff._opened_outcome(jsonb, bigint, text, bigint) from public;
