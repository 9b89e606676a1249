-- req: WARN-029
begin;
select plan(13);
select is(patchdiff._check_warnings(null)::text, '', 'none');
create function pg_temp.warned(number integer) returns jsonb language sql as $$
    select jsonb_build_object(
        'warnings', (select jsonb_agg('{"code": "c", "detail": "d"}'::jsonb) from generate_series(1, warned.number)),
        'warning_count', warned.number, 'warnings_truncated', false
    )
$$;
select is(patchdiff._check_warnings(pg_temp.warned(16))::text, '', 'sixteen');
select throws_ok('select patchdiff._check_warnings(pg_temp.warned(17))', 'PD022', null, 'seventeen');
select throws_ok(format('select patchdiff._check_warnings(%L)', w), 'PD022', null, w)
from unnest(array[
    '5', '[]', '{}', '{"warnings": [], "warning_count": 0, "warnings_truncated": false}',
    '{"warnings": [{"code": "c", "detail": "d"}], "warning_count": 1}',
    '{"warnings": [5], "warning_count": 1, "warnings_truncated": false}',
    '{"warnings": [{"code": "c"}], "warning_count": 1, "warnings_truncated": false}',
    '{"warnings": [{"code": "c", "detail": "d"}], "warning_count": 0, "warnings_truncated": false}',
    '{"warnings": [{"code": "c", "detail": "d"}], "warning_count": -1.5, "warnings_truncated": false}',
    '{"warnings": [{"code": "c", "detail": "d"}], "warning_count": 1, "warnings_truncated": false, "evil": 1}'
]) as w;
select * from finish();
rollback;
