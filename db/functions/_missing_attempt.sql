-- Compares stored hashes only, so that it costs one pass over an index range and is indifferent to what else a row
-- holds: patchdiff.verify_chain computes them anew.
create or replace function patchdiff._missing_attempt(
    target_file_id uuid
) returns bigint
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_sequence bigint;
    v_last record;
begin
    select c.log_sequence into v_sequence
    from (
        select
            l.log_sequence,
            l.previous_row_hash,
            lag(l.row_hash, 1, '') over (order by l.log_sequence) as expected_hash
        from patchdiff.append_only_pdcp_logs as l
        where l.target_file_id = _missing_attempt.target_file_id
    ) as c
    where c.previous_row_hash <> c.expected_hash
    order by c.log_sequence
    limit 1;
    if v_sequence is not null then
        return v_sequence;
    end if;
    select l.log_sequence, l.row_hash into v_last
    from patchdiff.append_only_pdcp_logs as l
    where l.target_file_id = _missing_attempt.target_file_id
    order by l.log_sequence desc
    limit 1;
    return (
        select t.log_head_sequence
        from patchdiff.cloud_target_files as t
        where
            t.target_file_id = _missing_attempt.target_file_id
            and (t.log_head_sequence, t.log_head_hash)
            <> (coalesce(v_last.log_sequence, 0), coalesce(v_last.row_hash, ''))
    );
end
$function$;
comment on function patchdiff._missing_attempt(uuid) is
'Looks for a gap in a target''s log: the log_sequence of the first row whose predecessor is not the one it names, or
the one that the target names as its newest when that is not the last row. Null when the links are whole.';
revoke all on function patchdiff._missing_attempt(uuid) from public;
