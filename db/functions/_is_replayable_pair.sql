create or replace function patchdiff._is_replayable_pair(
    protocol_version text,
    runtime_version text,
    pdcp_content text
) returns boolean
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    -- the later runtime of operations takes everything that the earlier one took
    return coalesce(
        runtime_version = patchdiff._runtime_version(protocol_version, pdcp_content)
        or (protocol_version = 'patchdiff-tx/2' and runtime_version = 'patchdiff-mvp-0.5.0'),
        false
    );
end
$function$;
comment on function patchdiff._is_replayable_pair(text, text, text) is
'Whether a replay can judge a record by its recorded protocol and runtime. Contract: patchdiff_submit_operations,
runtime profiles.';
revoke all on function patchdiff._is_replayable_pair(text, text, text) from public;
