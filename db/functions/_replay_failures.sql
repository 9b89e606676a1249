create or replace function patchdiff._replay_failures(
    target_file_id uuid
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_replay jsonb;
begin
    v_replay := patchdiff.replay_spans(_replay_failures.target_file_id::text);
    if v_replay ->> 'status' is distinct from 'success' then
        return jsonb_build_array(patchdiff._check_failure(
            'replay',
            coalesce(v_replay ->> 'code', v_replay ->> 'failure_reason', v_replay ->> 'status'),
            v_replay ->> 'failure_detail',
            (v_replay ->> 'log_sequence')::bigint
        ));
    end if;
    return coalesce((
        select jsonb_agg(patchdiff._check_failure('replay', c.code, c.failure_detail) order by c.position)
        from (
            values
            (1, 'content_matches', 'content_differs', 'The stored text is not the one that the history makes.'),
            (
                2, 'stored_hash_matches', 'stored_hash_differs',
                'current_hash is not that of the text that the history makes.'
            ),
            (
                3, 'recomputed_hash_matches', 'recomputed_hash_differs',
                'The hash of the stored text is not that of the text that the history makes.'
            ),
            (4, 'version_matches', 'version_differs', 'version is not the number of accepted transactions.')
        ) as c (position, name, code, failure_detail)
        where v_replay -> 'materialized_state_checks' -> c.name is distinct from 'true'
    ), '[]');
exception
    when others then
        return jsonb_build_array(patchdiff._check_failure('replay', 'check_failed', sqlerrm));
end
$function$;
comment on function patchdiff._replay_failures(uuid) is
'Check of patchdiff.verify_target: the history replays from its recorded spans, and what it makes is what is stored.';
revoke all on function patchdiff._replay_failures(uuid) from public;
