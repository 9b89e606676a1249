create or replace function patchdiff._record_changes(
    protocol_version text,
    pdcp_content text
) returns table (
    change_index bigint,
    change_id text,
    matched text,
    replacement text,
    risk text
)
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_record jsonb;
begin
    if not pg_input_is_valid(pdcp_content, 'jsonb') then
        raise exception 'the record is no JSON text' using errcode = 'PD020',
            hint = 'Send the compact JSON record of the transaction, as the adapter stores it.';
    end if;
    v_record := pdcp_content::jsonb;
    if
        v_record ->> 'protocol' is distinct from protocol_version
        or protocol_version <> 'patchdiff-tx/1'
        or jsonb_typeof(v_record -> 'intent') is distinct from 'string'
        or jsonb_typeof(v_record -> 'edits') is distinct from 'array'
    then
        raise exception 'the record is no transaction of protocol %', protocol_version
            using errcode = 'PD020',
            hint = 'A patchdiff-tx/1 record has protocol, intent and a list of edits.';
    end if;
    return query
    select
        e.position,
        coalesce(e.edit ->> 'change_id', 'chg_' || lpad(e.position::text, greatest(3, length(e.position::text)), '0')),
        patchdiff._canonical_text(e.edit ->> 'match'),
        patchdiff._canonical_text(e.edit ->> 'replace'),
        e.edit ->> 'risk'
    from jsonb_array_elements(v_record -> 'edits') with ordinality as e (edit, position)
    order by e.position;
end
$function$;
comment on function patchdiff._record_changes(text, text) is
'The changes of a stored record in order: one-based index, name, and the canonical text that each
matches and puts in its place. Raises PD020 for a text that is no record of the protocol.';
revoke all on function patchdiff._record_changes(text, text) from public;
