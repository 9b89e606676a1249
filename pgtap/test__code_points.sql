begin;
select plan(5);
select is(patchdiff._code_points(convert_to('abc', 'UTF8')), 3::bigint, 'ASCII: bytes are code points');
select is(patchdiff._code_points(convert_to('aé😀', 'UTF8')), 3::bigint, 'one, two and four bytes');
select is(patchdiff._code_points(''), 0::bigint, 'nothing');
select is(patchdiff._code_points('\xc3'), -1::bigint, 'half a character');
select is(patchdiff._code_points(null), null, 'null');
select * from finish();
rollback;
