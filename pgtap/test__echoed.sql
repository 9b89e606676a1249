begin;
select plan(3);
select is(patchdiff._echoed(repeat(E'\u4E2D', 1024)), repeat(E'\u4E2D', 1024), '1,024 code points are whole');
select is(patchdiff._echoed(repeat('a', 1025)), null, '1,025 are null');
select is(patchdiff._echoed(null), null, 'null');
select * from finish();
rollback;
