create or replace function patchdiff._runtime_version(
    protocol_version text
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return case protocol_version
        when 'patchdiff-tx/1' then 'patchdiff-mvp-0.2.2'
    end;
end
$function$;
comment on function patchdiff._runtime_version(text) is
'The evaluator that judges records of a protocol; null for evidence of invalid input.';
revoke all on function patchdiff._runtime_version(text) from public;
