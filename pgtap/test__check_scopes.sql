-- req: SCOPE-038, SCOPE-042, SCOPE-043, SCOPE-045
begin;
select plan(23);
create function pg_temp.scopes(bounds text) returns jsonb language sql as $$
    select jsonb_agg(jsonb_build_object(
        'name', 'n', 'kind', 'k', 'start', split_part(b, '-', 1)::bigint, 'end', split_part(b, '-', 2)::bigint
    ))
    from string_to_table(bounds, ' ') as b
$$;
create function pg_temp.verdict(scopes jsonb, bundle boolean, engine text default 'e', language text default 'l')
returns text language plpgsql as $$
begin
    perform patchdiff._check_scopes(engine, language, scopes, bundle, 100000);
    return 'fits';
exception
    when sqlstate 'PD040' then
        return 'refused';
end
$$;
select is(pg_temp.verdict(pg_temp.scopes(s.bounds), s.bundle), s.expected, concat_ws(' ', s.bounds, s.bundle))
from (
    values
    ('0-5', false, 'fits'), ('0-5', true, 'fits'), ('5-5', false, 'fits'), ('5-5', true, 'refused'),
    ('99999-100000', false, 'fits'), ('99999-100001', false, 'refused'), ('6-5', false, 'refused'),
    ('0-5 5-9', true, 'fits'), ('5-9 0-5', true, 'fits'), ('0-5 4-9', true, 'refused'), ('4-9 0-5', true, 'refused'),
    ('0-5 0-5', true, 'refused'), ('0-9 3-5', true, 'refused'), ('0-5 5-9', false, 'refused'),
    ('0-65536', true, 'fits'), ('0-65537', true, 'refused'), ('0-65537', false, 'fits'), ('0-65000 70000-70537', true, 'refused')
) as s (bounds, bundle, expected);
select is(
    pg_temp.verdict((
        select jsonb_agg(jsonb_build_object('name', 'n', 'kind', 'k', 'start', i, 'end', i + 1))
        from generate_series(1, n.n) as i
    ), true),
    n.expected, n.n || ' scopes'
)
from (values (32, 'fits'), (33, 'refused')) as n (n, expected);
select is(pg_temp.verdict('[]', true), 'refused', 'none');
select is(pg_temp.verdict('[{"name": "n", "kind": "k", "start": 0, "end": 1.5}]', false), 'refused', 'no offset');
select is(pg_temp.verdict(pg_temp.scopes('0-5'), false, ''), 'refused', 'no engine');
select * from finish();
rollback;
