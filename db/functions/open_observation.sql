create or replace function patchdiff.open_observation(
    target_file_id text,
    for_update boolean default false,
    out refusal jsonb,
    out filename text,
    out target_type text,
    out version bigint,
    out current_hash text,
    out current_content text
) returns record
language plpgsql
volatile
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(open_observation.target_file_id);
begin
    if open_observation.for_update then
        perform from patchdiff.cloud_target_files as t where t.target_file_id = v_id for update;
    end if;
    select t.filename, t.target_type, t.version, t.current_hash, t.current_content
    into
        open_observation.filename, open_observation.target_type, open_observation.version,
        open_observation.current_hash, open_observation.current_content
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        refusal := patchdiff._target_refusal(open_observation.target_file_id);
    end if;
end
$function$;
comment on function patchdiff.open_observation(text, boolean) is
'What the structural engine needs of a target, from one observation: its name, type and whole canonical text, with
version and hash. for_update locks the target until the transaction ends, so that receipts can be issued on it
whatever others do. refusal is null, or the payload for a malformed or unknown target_file_id.
Contract: patchdiff_observe_scope.';
revoke all on function patchdiff.open_observation(text, boolean) from public;
grant execute on function patchdiff.open_observation(text, boolean) to patchdiff_editor;
