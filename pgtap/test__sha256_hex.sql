begin;
select plan(5);
select has_function('patchdiff', '_sha256_hex', array['text'], 'signature');
select is(patchdiff._sha256_hex(g.given), g.expected, g.what)
from (
    values
    ('null', null, null),
    ('nothing', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
    ('ASCII', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'),
    ('UTF-8', E'\u00E9', '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c')
) as g (what, given, expected);
select * from finish();
rollback;
