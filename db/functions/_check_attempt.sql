create or replace function patchdiff._check_attempt(
    protocol_version text,
    pdcp_content text,
    request jsonb
) returns void
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if
        protocol_version is null
        or protocol_version not in (
            'patchdiff-tx/1', 'patchdiff-tx/2', 'patchdiff-tx/3', 'patchdiff-observed-batch/1',
            'patchdiff-invalid-input/1'
        )
        or pdcp_content is null
        or jsonb_typeof(request) is distinct from 'object'
        or jsonb_typeof(coalesce(request -> 'observation', '{}')) <> 'object'
        or not (case protocol_version
            when 'patchdiff-invalid-input/1' then true
            when 'patchdiff-observed-batch/1' then coalesce(request -> 'observation' ? 'observation_ids', false)
            when 'patchdiff-tx/2' then coalesce(not request -> 'observation' ? 'observation_ids', true)
            else not request ? 'observation'
        end)
    then
        raise exception 'an attempt needs a known protocol_version, a record and a request object'
            using errcode = 'PD022',
            hint = 'Protocols are patchdiff-tx/1, /2 and /3, patchdiff-observed-batch/1 with its receipts in '
            || 'request.observation, and patchdiff-invalid-input/1 for rejections.';
    end if;
end
$function$;
comment on function patchdiff._check_attempt(text, text, jsonb) is
'Raises PD022 unless the arguments that every attempt has are there and of their kind.';
revoke all on function patchdiff._check_attempt(text, text, jsonb) from public;
