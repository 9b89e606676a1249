begin;
select plan(24);

select has_function('patchdiff', 'list_targets', array['bigint', 'text'], 'signature');
select function_returns('patchdiff', 'list_targets', 'jsonb', 'answers one jsonb');
select function_lang_is('patchdiff', 'list_targets', 'plpgsql', 'language');
select volatility_is('patchdiff', 'list_targets', 'stable', 'it reads');
select is_definer('patchdiff', 'list_targets', 'acts as its owner');
select function_privs_are(
    'patchdiff', 'list_targets', array['bigint', 'text'], 'patchdiff_editor', array['EXECUTE'], 'the editor may call it'
);
select function_privs_are(
    'patchdiff', 'list_targets', array['bigint', 'text'], 'patchdiff_reader', array['EXECUTE'], 'the reader may call it'
);
select ok(not has_function_privilege('public', 'patchdiff.list_targets(bigint, text)', 'execute'), 'PUBLIC may not');

-- other tests' targets are here too, so pages are asked for after an id that none of them reaches
create function pg_temp.id(n integer) returns text language sql as $$
    select 'ffffffff-ffff-4fff-bfff-' || lpad(to_hex(n), 12, '0')
$$;
insert into patchdiff.cloud_target_files (
    target_file_id, filename, target_type, current_content, current_hash, version, active_editing_cycle_id,
    content_changed_at
)
select
    pg_temp.id(n)::uuid, 'file ' || n, 'text/plain', 'text', 'hash ' || n, n, gen_random_uuid(), '2026-10-22 23:28:20.9+00'
from generate_series(1, 201) as n;
create function pg_temp.page("limit" bigint, after integer) returns text language sql as $$
    select jsonb_array_length(p -> 'targets') || ': ' || (p #>> '{targets,0,filename}') || ' to '
        || (p #>> '{targets,-1,filename}') || ', ' || (p ->> 'has_more') || ', '
        || coalesce((p ->> 'next_target_file_id' = p #>> '{targets,-1,target_file_id}')::text, 'none')
    from patchdiff.list_targets("limit", pg_temp.id(after)) as p
$$;

select is(pg_temp.page(3, 0), '3: file 1 to file 3, true, true', 'a page of three');
select is(pg_temp.page(3, 3), '3: file 4 to file 6, true, true', 'the next one');
select is(pg_temp.page(3, 198), '3: file 199 to file 201, false, none', 'exactly limit targets are the last page');
select is(pg_temp.page(2, 198), '2: file 199 to file 200, true, true', 'one more is not');
select is(pg_temp.page(null, 0), '50: file 1 to file 50, true, true', 'fifty unless a limit is given');
select is(pg_temp.page(200, 0), '200: file 1 to file 200, true, true', 'two hundred at most');
select is(pg_temp.page(201, 0), '200: file 1 to file 200, true, true', 'whatever the limit says');
select is(pg_temp.page(9223372036854775807, 1), '200: file 2 to file 201, false, none', 'the largest limit');
select is(
    patchdiff.list_targets(1, pg_temp.id(6)) #> '{targets,0}',
    jsonb_build_object(
        'target_file_id', pg_temp.id(7), 'filename', 'file 7', 'version', 7, 'current_hash', 'hash 7',
        'content_changed_at', '2026-10-22T23:28:20Z'
    ),
    'what is said of a target'
);
select is(
    patchdiff.list_targets(1, pg_temp.id(201)),
    jsonb_build_object(
        'targets', '[]'::jsonb, 'has_more', false, 'next_target_file_id', null,
        'total', (select count(*) from patchdiff.cloud_target_files)
    ),
    'an empty page, with the count of all targets'
);
select is(
    (
        with recursive page as (
            select patchdiff.list_targets(150) as p
            union all
            select patchdiff.list_targets(150, page.p ->> 'next_target_file_id')
            from page where page.p -> 'has_more' = 'true'
        )

select array_agg(t ->> 'target_file_id' order by t ->> 'target_file_id')
        from page cross join lateral jsonb_array_elements(page.p -> 'targets') as t
    ),
    (select array_agg(target_file_id::text order by target_file_id::text) from patchdiff.cloud_target_files),
    'the pages together hold every target once'
);
select is(
    (patchdiff.list_targets(n) - 'failure_detail'), '{"status": "invalid_argument"}', 'limit ' || n || ' is refused'
) from (values (0), (-1)) as v (n);
select alike(patchdiff.list_targets(0) ->> 'failure_detail', 'limit must be 1 or more%: it is 0.', 'with the value');
select is(patchdiff.list_targets(1, 'file 1') ->> 'code', 'invalid_target_id', 'no id');
select is(
    patchdiff.list_targets(1, '0f0f0f0f-0000-4000-8000-000000000000') ? 'targets', true, 'an id of nothing is a place'
);

select * from finish();
rollback;
