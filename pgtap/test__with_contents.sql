-- req: LOG-037, LOG-038, LOG-039, LOG-040, LOG-041
begin;
select plan(5);
select has_function('patchdiff', '_with_contents', array['uuid', 'bigint[]', 'jsonb'], 'signature');

create temp table made as select patchdiff.initialize_target('f', 'text') as answer;
create function pg_temp.id() returns uuid language sql as $$
    select (answer ->> 'target_file_id')::uuid from made
$$;
insert into patchdiff.append_only_pdcp_logs (
    target_file_id, log_sequence, pdcp_log_id, status, protocol_version, editing_cycle_id, before_version, before_hash,
    failure_reason, request_envelope, request_fingerprint, pdcp_content, pdcp_content_hash, created_at,
    previous_row_hash, row_hash
)
select
    pg_temp.id(), c.s, gen_random_uuid(), 'rejected', 'patchdiff-tx/1', (answer ->> 'active_editing_cycle_id')::uuid,
    0, 'b', 'match_absent', '{}', 'f', c.record, 'h', now(), '', 'r'
from made
cross join (
    values (1, 'small'), (2, repeat('é', 262145)), (3, repeat('x', 524288)), (4, repeat('y', 1048577))
) as c (s, record);

-- what is returned of each entry: its number, the bytes of its record, the mark of one left out
create function pg_temp.page(log_sequences bigint[]) returns text language sql as $$
    select string_agg(
        (e ->> 'log_sequence') || ':' || coalesce(octet_length(e ->> 'pdcp_content')::text, e ->> 'pdcp_content_omitted'),
        ' ' order by n
    )
    from jsonb_array_elements(patchdiff._with_contents(
        pg_temp.id(), log_sequences,
        (select jsonb_agg(jsonb_build_object('log_sequence', s) order by s desc) from unnest(log_sequences) as s)
    )) with ordinality as p (e, n)
$$;
select is(pg_temp.page('{4,3,1}'), '4:1048577 3:page_byte_budget 1:page_byte_budget', 'the first one whole, then none');
select is(
    pg_temp.page('{3,2,1}'), '3:524288 2:page_byte_budget 1:5', 'bytes, not characters; a later one that still fits'
);
select is(pg_temp.page('{2,1}'), '2:524290 1:5', 'all that fit');
select is(patchdiff._with_contents(pg_temp.id(), '{}', '[]'), '[]', 'none of none');
select * from finish();
rollback;
