create or replace function patchdiff._within_page_budget(
    byte_lengths bigint[]
) returns boolean[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_left bigint := 1048576;
    v_within boolean[] := '{}';
    v_bytes bigint;
begin
    foreach v_bytes in array _within_page_budget.byte_lengths loop
        if v_within = '{}' or v_bytes <= v_left then
            v_within := v_within || true;
            v_left := v_left - v_bytes;
        else
            v_within := v_within || false;
        end if;
    end loop;
    return v_within;
end
$function$;
comment on function patchdiff._within_page_budget(bigint[]) is
'Which contents of a log page are returned, given their UTF-8 byte lengths in page order: the first whole, each
later one when it fits what is left of 1,048,576 bytes. Contract: patchdiff_get_pdcp_log, content budget.';
revoke all on function patchdiff._within_page_budget(bigint[]) from public;
