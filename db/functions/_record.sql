create or replace function patchdiff._record(
    protocol_version text,
    pdcp_content text
) returns jsonb
language plpgsql
stable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_member text := case protocol_version
        when 'patchdiff-tx/1' then 'edits'
        when 'patchdiff-tx/2' then 'operations'
        when 'patchdiff-tx/3' then 'replacement'
        when 'patchdiff-observed-batch/1' then 'groups'
    end;
    v_bundle text[] := case protocol_version
        when 'patchdiff-observed-batch/1' then array['observation_bundle_id'] else '{}'
    end;
    v_record jsonb;
    v_fits boolean := false;
begin
    if pg_input_is_valid(pdcp_content, 'jsonb') then
        v_record := pdcp_content::jsonb;
        v_fits := jsonb_typeof(v_record) = 'object'
            and v_record ->> 'protocol' = protocol_version
            and jsonb_typeof(v_record -> 'intent') = 'string'
            and v_record ? v_member
            and v_record - (array['protocol', 'intent', v_member] || v_bundle) = '{}'
            and starts_with(
                pdcp_content,
                '{"protocol":' || to_json(protocol_version) || ',"intent":' || to_json(v_record ->> 'intent')
                || case
                    when v_bundle = '{}' then ''
                    else ',"observation_bundle_id":' || to_json(v_record ->> 'observation_bundle_id')
                end
                || ',"' || v_member || '":'
            );
        if v_fits and v_member = 'replacement' then
            v_fits := jsonb_typeof(v_record -> v_member) = 'string';
        elsif v_fits and v_member = 'groups' then
            v_fits := patchdiff._is_batch(v_record);
        elsif v_fits and jsonb_typeof(v_record -> v_member) = 'array' then
            select
                count(*) > 0
                and bool_and(patchdiff._is_change(protocol_version, c.change))
                and count(*) = count(distinct patchdiff._change_id(c.change, c.position))
            into v_fits
            from jsonb_array_elements(v_record -> v_member) with ordinality as c (change, position);
        elsif v_fits then
            v_fits := false;
        end if;
    end if;
    if v_fits is not true then
        raise exception 'the record is no transaction of protocol %', protocol_version
            using errcode = 'PD020',
            hint = 'A record has protocol, intent, and well-formed edits, operations or replacement (tx/1, tx/2, tx/3), or '
            || 'observation_bundle_id and groups (observed-batch/1).';
    end if;
    return v_record;
exception
    when statement_too_complex then
        raise exception 'the record is nested too deep' using errcode = 'PD020',
            hint = 'A record has protocol, intent, and edits, operations or replacement, none of them nested.';
end
$function$;
comment on function patchdiff._record(text, text) is
'A stored record as jsonb, its shape checked. Raises PD020 for a text that is no record of the protocol.';
revoke all on function patchdiff._record(text, text) from public;
