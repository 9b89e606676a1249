create or replace function patchdiff._sha256_hex(
    source text
) returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    return encode(sha256(convert_to(_sha256_hex.source, 'UTF8')), 'hex');
end
$function$;
comment on function patchdiff._sha256_hex(text) is
'Lowercase hex SHA-256 of the text''s UTF-8 bytes; null for null.';
revoke all on function patchdiff._sha256_hex(text) from public;
