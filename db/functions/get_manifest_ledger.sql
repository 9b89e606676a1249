-- Its statements are few and always find their rows through an index: planning them anew in every call costs as
-- much as running them, and a plan made while the tables were small must not scan them once they are large.
create or replace function patchdiff.get_manifest_ledger(
    target_file_id text,
    include_previous_cycles boolean default false,
    "limit" bigint default 50,
    before_sequence bigint default null
) returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $function$
declare
    v_id constant uuid := patchdiff._target_id(get_manifest_ledger.target_file_id);
    v_limit constant bigint := patchdiff._page_limit(get_manifest_ledger."limit");
    v_refusal jsonb;
    v_cycle_id uuid;
    v_sequences bigint[];
begin
    if v_id is null then
        return patchdiff._history_refusal(patchdiff._target_refusal(get_manifest_ledger.target_file_id));
    end if;
    v_refusal := patchdiff._history_arguments_refusal(
        get_manifest_ledger."limit", get_manifest_ledger.before_sequence,
        'include_previous_cycles', get_manifest_ledger.include_previous_cycles
    );
    if v_refusal is not null then
        return v_refusal;
    end if;
    select t.active_editing_cycle_id into v_cycle_id
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._history_refusal(patchdiff._target_refusal(get_manifest_ledger.target_file_id));
    end if;

    v_sequences := patchdiff._ledger_page(
        v_id, v_limit + 1, get_manifest_ledger.before_sequence,
        case when not get_manifest_ledger.include_previous_cycles then v_cycle_id end
    );
    return patchdiff._ledger_answer(v_id, v_sequences[:v_limit], cardinality(v_sequences) > v_limit);
end
$function$;
comment on function patchdiff.get_manifest_ledger(text, boolean, bigint, bigint) is
'The changes of a target''s accepted attempts: the newest page of at most limit entries, 50 for null, never more
than 200, with a ledger_sequence below before_sequence, shown oldest first. Only the open editing cycle, unless
include_previous_cycles. next_sequence is the before_sequence of the page before, null when there is none.
Refuses with invalid_argument: a malformed id (invalid_target_id), a limit or before_sequence below 1, a null
include_previous_cycles. not_found for an unknown target. Refusals have entries [], has_more false and
next_sequence null. Contract: section 4.';
revoke all on function patchdiff.get_manifest_ledger(text, boolean, bigint, bigint) from public;
grant execute on function patchdiff.get_manifest_ledger(text, boolean, bigint, bigint)
to patchdiff_editor, patchdiff_reader;
