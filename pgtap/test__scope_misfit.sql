-- req: OBS-024, OBS-027, OBS-028
begin;
select plan(22);
create function pg_temp.receipts(scopes text) returns patchdiff.target_scope_observations[] language plpgsql as $$
declare
    v_receipts patchdiff.target_scope_observations[] := '{}';
    v_receipt patchdiff.target_scope_observations;
    v_scope text;
begin
    foreach v_scope in array string_to_array(scopes, ' ') loop
        v_receipt.observation_id := format('%s-0000-4000-8000-000000000000', lpad(v_scope, 8, '0'))::uuid;
        v_receipt.scope_start := left(v_scope, 2)::bigint;
        v_receipt.scope_end := right(v_scope, 2)::bigint;
        v_receipts := v_receipts || v_receipt;
    end loop;
    return v_receipts;
end
$$;
-- changes as place:before:matched:after:replacement, of scopes of four digits; a batch''s begin with their scope
create function pg_temp.misfit(scopes text, changes text, batch boolean default false) returns text language sql as $$
    select coalesce(patchdiff._scope_misfit(
        pg_temp.receipts(scopes),
        array_agg(case when batch then format('%s-0000-4000-8000-000000000000', lpad(split_part(c, ':', 6), 8, '0'))::uuid end),
        array_agg(split_part(c, ':', 1)::bigint), array_agg(split_part(c, ':', 2)), array_agg(split_part(c, ':', 3)),
        array_agg(split_part(c, ':', 4)), array_agg(split_part(c, ':', 5))
    ), 'fits')
    from string_to_table(changes, ' ') as c
$$;
select is(pg_temp.misfit('1020', m.changes), m.expected, m.changes)
from (
    values
    ('10::abc::x', 'fits'), ('17::abc::x', 'fits'), ('10::abcdefghij::', 'fits'),
    ('09::abc::x', 'change 1 does not lie inside its scope'), ('18::abc::x', 'change 1 does not lie inside its scope'),
    ('11:a::b:x', 'fits'), ('19:a::b:x', 'fits'),
    ('10:a::b:x', 'change 1 does not lie inside its scope'), ('20:a::b:x', 'change 1 does not lie inside its scope'),
    ('11:::b:x', 'change 1 does not lie inside its scope'), ('11:a:::x', 'change 1 does not lie inside its scope'),
    ('11:ab::b:x', 'change 1 does not lie inside its scope'), ('19:a::bc:x', 'change 1 does not lie inside its scope'),
    ('10:a:b::x', 'change 1 does not lie inside its scope'), ('19::a:b:x', 'change 1 does not lie inside its scope'),
    ('12::a::abc 21::b::x', 'fits'), ('12::a::abc 22::b::x', 'change 2 does not lie inside its scope'),
    ('12::abc:: 17::b::x', 'change 2 does not lie inside its scope')
) as m (changes, expected);
select is(pg_temp.misfit('1020 3040', '31::a::bcd:3040 11::a::x:1020 40::a::x:3040', true), 'fits', 'each scope by itself');
select is(
    pg_temp.misfit('1020 3040', '31::a::x:3040', true), 'a receipt has no change', 'a receipt is not used up for nothing'
);
select is(
    pg_temp.misfit('1020', '11::a::x:1020 31::a::x:3040', true), 'a change has no receipt, or several', 'no receipt'
);
select is(
    patchdiff._scope_misfit(null, '{11111111-0000-4000-8000-000000000000}', '{0}', '{""}', '{a}', '{""}', '{b}'),
    'a batch has no receipts', 'a batch that is not observed'
);
select * from finish();
rollback;
