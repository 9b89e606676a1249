create or replace function patchdiff.target_text(
    target_file_id text,
    out refusal jsonb,
    out version bigint,
    out current_hash text,
    out current_content text
) returns record
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
    select t.version, t.current_hash, t.current_content
    into target_text.version, target_text.current_hash, target_text.current_content
    from patchdiff.cloud_target_files as t
    where t.target_file_id = patchdiff._target_id(target_text.target_file_id);
    if target_text.version is null then
        refusal := patchdiff._target_refusal(target_text.target_file_id);
    end if;
end
$function$;
comment on function patchdiff.target_text(text) is
'The whole canonical text of a target with its version and hash, from one observation, as columns: for
programs that search or evaluate it. refusal is null, or the payload for a malformed or unknown
target_file_id (contract, section 2).';
revoke all on function patchdiff.target_text(text) from public;
grant execute on function patchdiff.target_text(text) to patchdiff_editor, patchdiff_reader;
