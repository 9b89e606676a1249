-- What is narrow is kept for the window: each long text is hashed where it is read and let go. A row's facts are
-- looked up by their key, so that the cost stays in proportion to the rows whatever the planner knows of them.
create or replace function patchdiff.verify_chain(
    target_file_id text
) returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_id constant uuid := patchdiff._target_id(verify_chain.target_file_id);
    v_head record;
    v_found record;
    v_unfit jsonb;
begin
    select t.log_head_sequence as sequence, t.log_head_hash as hash
    into v_head
    from patchdiff.cloud_target_files as t
    where t.target_file_id = v_id;
    if not found then
        return patchdiff._target_refusal(verify_chain.target_file_id);
    end if;

    with links as materialized (
        select
            l.log_sequence,
            l.pdcp_log_id,
            l.previous_row_hash,
            l.row_hash,
            case
                when l.pdcp_content_hash is distinct from patchdiff._sha256_hex(l.pdcp_content)
                    then 'record_hash_differs'
                when l.request_fingerprint is distinct from patchdiff._sha256_hex(l.request_envelope)
                    then 'fingerprint_differs'
                when l.row_hash is distinct from patchdiff._log_row_hash(l, (
                    select jsonb_agg(m.derived order by m.change_index)
                    from patchdiff.manifest_ledger as m
                    where m.target_file_id = l.target_file_id and m.pdcp_log_id = l.pdcp_log_id
                )) then 'row_hash_differs'
            end as own_code
        from patchdiff.append_only_pdcp_logs as l
        where l.target_file_id = v_id
    ),
    judged as materialized (
        select
            k.log_sequence,
            k.pdcp_log_id,
            k.row_hash,
            row_number() over w as place,
            case
                when k.previous_row_hash is distinct from lag(k.row_hash, 1, '') over w
                    then 'previous_row_hash_differs'
                else k.own_code
            end as code
        from links as k
        window w as (order by k.log_sequence)
    ),
    summary as (
        select
            count(*) as total,
            min(j.place) filter (where j.code is not null) as unfit,
            coalesce(
                min(j.log_sequence) filter (where j.log_sequence > v_head.sequence), v_head.sequence
            ) as head_sequence
        from judged as j
    )
    select
        s.total, s.head_sequence, u.place, u.log_sequence, u.pdcp_log_id, u.code,
        coalesce(z.log_sequence, 0) = v_head.sequence and coalesce(z.row_hash, '') = v_head.hash as fits_head,
        h.pdcp_log_id as head_log_id
    into v_found
    from summary as s
    left join judged as u on u.place = s.unfit
    left join judged as z on z.place = s.total
    left join judged as h on h.log_sequence = s.head_sequence;

    if v_found.place is not null then
        v_unfit := jsonb_build_object(
            'log_sequence', v_found.log_sequence, 'pdcp_log_id', v_found.pdcp_log_id, 'code', v_found.code
        );
    elsif v_found.fits_head is not true then
        v_unfit := jsonb_build_object(
            'log_sequence', v_found.head_sequence, 'pdcp_log_id', v_found.head_log_id, 'code', 'head_differs'
        );
    end if;
    return jsonb_build_object(
        'status', case when v_unfit is null then 'intact' else 'broken' end,
        'target_file_id', v_id,
        'rows_verified', coalesce(v_found.place - 1, v_found.total),
        'head_sequence', v_head.sequence,
        'head_hash', v_head.hash,
        'first_unfit', v_unfit || jsonb_build_object('failure_detail', case v_unfit ->> 'code'
            when 'previous_row_hash_differs'
                then 'previous_row_hash is not the row_hash of the row before it:'
                    || ' rows were removed, added or moved before this one, or one of the two was altered.'
            when 'record_hash_differs' then 'pdcp_content_hash is not the SHA-256 of pdcp_content.'
            when 'fingerprint_differs' then 'request_fingerprint is not the SHA-256 of request_envelope.'
            when 'row_hash_differs'
                then 'row_hash is not the hash of the row and its ledger facts:'
                    || ' one of its columns, or its rows in the ledger, were altered, added or removed.'
            when 'head_differs'
                then 'The target''s log_head_sequence and log_head_hash are not those of its last row:'
                    || ' rows were removed or added at the end, or the target''s row was altered.'
        end)
    );
end
$function$;
comment on function patchdiff.verify_chain(text) is
'Verifies a target''s hash chain in one pass over its log: each row''s previous_row_hash is its predecessor''s
row_hash, its record and its request have their hashes, its row_hash is that of the row and its ledger facts, and
the last row is the target''s head. Answers intact or broken, rows_verified (rows in order before the first that
does not fit), head_sequence and head_hash (of the target''s row; to be kept elsewhere), and first_unfit:
log_sequence, pdcp_log_id (null where the row is missing), code and failure_detail, or null. Changes nothing.
Refuses a malformed id (invalid_target_id), not_found for an unknown one. Contract: audit.';
revoke all on function patchdiff.verify_chain(text) from public;
grant execute on function patchdiff.verify_chain(text) to patchdiff_editor, patchdiff_reader, pg_read_all_data;
