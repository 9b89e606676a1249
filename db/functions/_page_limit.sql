create or replace function patchdiff._page_limit(
    "limit" bigint
) returns bigint
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return least(coalesce(_page_limit."limit", 50), 200);
end
$function$;
comment on function patchdiff._page_limit(bigint) is
'Entries of one page of the log or the ledger: 50 for null, never more than 200.';
revoke all on function patchdiff._page_limit(bigint) from public;
