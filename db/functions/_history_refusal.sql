create or replace function patchdiff._history_refusal(
    refusal jsonb
) returns jsonb
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return _history_refusal.refusal || '{"entries": [], "has_more": false, "next_sequence": null}';
end
$function$;
comment on function patchdiff._history_refusal(jsonb) is
'A refusal as the log and the ledger answer it: with no entries and no continuation.';
revoke all on function patchdiff._history_refusal(jsonb) from public;
