create or replace function patchdiff._replay_failure(
    code text,
    failure_detail text,
    log_sequence bigint default null,
    pdcp_log_id uuid default null
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return jsonb_build_object(
        'status', 'failed',
        'failure_reason', 'replay_protocol_invalid',
        'code', code,
        'failure_detail', failure_detail,
        'log_sequence', log_sequence,
        'pdcp_log_id', pdcp_log_id
    );
end
$function$;
comment on function patchdiff._replay_failure(text, text, bigint, uuid) is
'The payload of a replay that fails on missing or altered evidence, with the attempt at fault where one is.';
revoke all on function patchdiff._replay_failure(text, text, bigint, uuid) from public;
