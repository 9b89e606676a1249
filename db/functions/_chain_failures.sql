create or replace function patchdiff._chain_failures(
    target_file_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_unfit jsonb;
begin
    v_unfit := nullif(patchdiff.verify_chain(_chain_failures.target_file_id::text) -> 'first_unfit', 'null');
    if v_unfit is null then
        return '[]';
    end if;
    return jsonb_build_array(patchdiff._check_failure(
        'chain', v_unfit ->> 'code', v_unfit ->> 'failure_detail', (v_unfit ->> 'log_sequence')::bigint
    ));
exception
    when others then
        return jsonb_build_array(patchdiff._check_failure('chain', 'check_failed', sqlerrm));
end
$function$;
comment on function patchdiff._chain_failures(uuid) is
'Check of patchdiff.verify_target: the first row at which the hash chain breaks, as patchdiff.verify_chain names it.';
revoke all on function patchdiff._chain_failures(uuid) from public;
