create or replace function patchdiff._history_arguments_refusal(
    "limit" bigint,
    before_sequence bigint,
    flag_name text,
    flag boolean
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_detail text;
begin
    v_detail := case
        when _history_arguments_refusal."limit" < 1
            then 'limit must be 1 or more, or null for 50: it is ' || _history_arguments_refusal."limit" || '.'
        when _history_arguments_refusal.before_sequence < 1
            then 'before_sequence must be 1 or more, or null: it is '
            || _history_arguments_refusal.before_sequence || '. Pass the next_sequence of the page before.'
        when _history_arguments_refusal.flag is null
            then _history_arguments_refusal.flag_name || ' must be true or false.'
    end;
    if v_detail is null then
        return null;
    end if;
    return patchdiff._history_refusal(patchdiff._refusal('invalid_argument', null, v_detail));
end
$function$;
comment on function patchdiff._history_arguments_refusal(bigint, bigint, text, boolean) is
'Judges what the log and the ledger have in common: limit and before_sequence of at least 1 or null, and the
flag named flag_name, which may not be null. Null when all is well, otherwise the whole refusal.';
revoke all on function patchdiff._history_arguments_refusal(bigint, bigint, text, boolean) from public;
