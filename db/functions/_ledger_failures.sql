create or replace function patchdiff._ledger_failures(
    target_file_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_failures jsonb;
begin
    with records as materialized (
        select
            l.log_sequence, l.pdcp_log_id, l.editing_cycle_id, l.before_version, l.after_version, l.created_at,
            patchdiff._record_manifest(l.protocol_version, l.pdcp_content) as manifest
        from patchdiff.append_only_pdcp_logs as l
        where l.target_file_id = _ledger_failures.target_file_id and l.status = 'accepted'
    ),
    expected as (
        select r.*, c.change, c.change_index
        from records as r
        cross join lateral jsonb_array_elements(r.manifest -> 'changes') with ordinality as c (change, change_index)
    ),
    ledger as (
        select
            m.*,
            row_number() over (order by m.ledger_sequence)
            = row_number() over (order by coalesce(r.log_sequence, m.log_sequence), m.change_index) as in_order
        from patchdiff.manifest_ledger as m
        left join records as r on m.pdcp_log_id = r.pdcp_log_id
        where m.target_file_id = _ledger_failures.target_file_id
    ),
    compared as (
        select
            coalesce(e.log_sequence, m.log_sequence) as log_sequence,
            coalesce(e.change_index, m.change_index) as change_index,
            m.pdcp_log_id,
            case
                when m.pdcp_log_id is null then 'ledger_row_missing'
                when e.pdcp_log_id is null then 'ledger_row_unexpected'
                else 'ledger_row_differs'
            end as code,
            case when m.pdcp_log_id is not null and e.pdcp_log_id is not null then array_remove(array[
                case when m.log_sequence is distinct from e.log_sequence then 'log_sequence' end,
                case when not m.in_order then 'ledger_sequence' end,
                case when m.editing_cycle_id is distinct from e.editing_cycle_id then 'editing_cycle_id' end,
                case when m.before_version is distinct from e.before_version then 'before_version' end,
                case when m.after_version is distinct from e.after_version then 'after_version' end,
                case when m.created_at is distinct from e.created_at then 'created_at' end,
                case when m.change_id is distinct from e.change ->> 'change_id' then 'change_id' end,
                case when m.risk is distinct from e.change ->> 'risk' then 'risk' end,
                case when m.origin is distinct from 'typed' then 'origin' end,
                case when (m.derived @> (e.change -> 'facts')) is not true then 'derived' end,
                -- a row whose record nobody has read yet has no intent at all
                case
                    when m.intent is distinct from case
                        when m.transaction_intent is not null
                            then coalesce(e.change ->> 'rationale', e.manifest ->> 'transaction_intent')
                    end then 'intent'
                end,
                case
                    when m.transaction_intent is distinct from e.manifest ->> 'transaction_intent'
                        and m.transaction_intent is not null then 'transaction_intent'
                end,
                case
                    when m.rationale is distinct from case
                        when m.transaction_intent is not null then e.change ->> 'rationale'
                    end then 'rationale'
                end,
                case when m.input_state is not null then 'input_state' end,
                case when m.output_state is not null then 'output_state' end,
                case when m.affected_region is not null then 'affected_region' end,
                case when m.user_visible_change is not null then 'user_visible_change' end
            ], null) end as columns
        from expected as e
        full join ledger as m on e.pdcp_log_id = m.pdcp_log_id and e.change_index = m.change_index
    ),
    failures as (
        select
            c.log_sequence, c.change_index, c.code,
            case c.code
                when 'ledger_row_missing'
                    then format('Change %s of the accepted record has no row in the ledger.', c.change_index)
                when 'ledger_row_unexpected'
                    then format('The ledger has a row for change %s, which no accepted record has.', c.change_index)
                else format(
                    'The ledger row of change %s is not what its record and its attempt say: %s.',
                    c.change_index, array_to_string(c.columns, ', ')
                )
            end as failure_detail
        from compared as c
        where
            c.columns is distinct from '{}'
            -- what an unreadable record had for changes is unknown
            and not exists (
                select from records as r where r.pdcp_log_id = c.pdcp_log_id and r.manifest is null
            )
        union all
        select
            r.log_sequence, 0, 'record_unreadable',
            'The accepted record is no transaction of its protocol, so its ledger rows cannot be judged.'
        from records as r
        where r.manifest is null
    )
    select jsonb_agg(
        patchdiff._check_failure('ledger', f.code, f.failure_detail, f.log_sequence)
        order by f.log_sequence, f.change_index
    )
    into v_failures
    from (
        select a.* from failures as a order by a.log_sequence, a.change_index limit 100
    ) as f;
    return coalesce(v_failures, '[]');
exception
    when others then
        return jsonb_build_array(patchdiff._check_failure('ledger', 'check_failed', sqlerrm));
end
$function$;
comment on function patchdiff._ledger_failures(uuid) is
'Check of patchdiff.verify_target: the ledger has one row for each change of each accepted record and no other, and
each says what its attempt and its record say. The first 100 failures, in order of the attempts.';
revoke all on function patchdiff._ledger_failures(uuid) from public;
