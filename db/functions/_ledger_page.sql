create or replace function patchdiff._ledger_page(
    target_file_id uuid,
    entries bigint,
    before_sequence bigint,
    editing_cycle_id uuid
) returns bigint[]
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_before constant bigint := coalesce(_ledger_page.before_sequence, 9223372036854775807);
begin
    if _ledger_page.editing_cycle_id is null then
        return array(
            select m.ledger_sequence from patchdiff.manifest_ledger as m
            where m.target_file_id = _ledger_page.target_file_id and m.ledger_sequence < v_before
            order by m.ledger_sequence desc limit _ledger_page.entries
        );
    end if;
    return array(
        select m.ledger_sequence from patchdiff.manifest_ledger as m
        where
            m.target_file_id = _ledger_page.target_file_id
            and m.editing_cycle_id = _ledger_page.editing_cycle_id
            and m.ledger_sequence < v_before
        order by m.ledger_sequence desc limit _ledger_page.entries
    );
end
$function$;
comment on function patchdiff._ledger_page(uuid, bigint, bigint, uuid) is
'ledger_sequence of a target''s newest ledger rows below before_sequence, newest first, at most entries of them,
of one editing cycle or, for null, of all.';
revoke all on function patchdiff._ledger_page(uuid, bigint, bigint, uuid) from public;
