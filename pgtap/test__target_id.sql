begin;
select plan(11);
select has_function('patchdiff', '_target_id', array['text'], 'signature');
select is(
    patchdiff._target_id('0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'), '0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'::uuid,
    'a canonical UUID'
);
select is(patchdiff._target_id(given), null, 'not ' || coalesce(quote_literal(given), 'null'))
from (
    values
    ('0E66CB5C-0E66-4A5C-8B5C-0E66CB5C0E66'),
    ('0e66cb5c0e664a5c8b5c0e66cb5c0e66'),
    ('{0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66}'),
    (' 0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'),
    (E'0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66\n'),
    (E'x\n0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e66'),
    ('0e66cb5c-0e66-4a5c-8b5c-0e66cb5c0e6g'),
    (''),
    (null)
) as g (given);
select * from finish();
rollback;
