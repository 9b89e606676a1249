-- req: LEDG-020
begin;
select plan(5);
select has_function('patchdiff', '_utc_timestamp', array['timestamp with time zone'], 'signature');
set local timezone = 'Asia/Kolkata';
select is(patchdiff._utc_timestamp('2026-10-22 23:28:20+00'), '2026-10-22T23:28:20Z', 'UTC in any session');
select is(patchdiff._utc_timestamp('2026-10-23 04:58:20.999+05:30'), '2026-10-22T23:28:20Z', 'cut to the second');
select is(patchdiff._utc_timestamp('2026-01-02 03:04:05+00'), '2026-01-02T03:04:05Z', 'padded');
select is(patchdiff._utc_timestamp(null), null, 'null');
select * from finish();
rollback;
