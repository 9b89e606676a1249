create or replace function patchdiff._utc_timestamp(
    moment timestamptz
) returns text
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return to_char(_utc_timestamp.moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end
$function$;
comment on function patchdiff._utc_timestamp(timestamptz) is
'A moment in UTC to the second, cut, as in 2026-10-22T23:28:20Z; whatever the session''s time zone is.';
revoke all on function patchdiff._utc_timestamp(timestamptz) from public;
