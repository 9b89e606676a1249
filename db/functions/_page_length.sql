create or replace function patchdiff._page_length(
    length bigint
) returns bigint
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return least(coalesce(_page_length.length, 4000), 8000);
end
$function$;
comment on function patchdiff._page_length(bigint) is
'Code points of one page of text: 4,000 for null, never more than 8,000.';
revoke all on function patchdiff._page_length(bigint) from public;
