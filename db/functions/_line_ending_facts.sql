create or replace function patchdiff._line_ending_facts(
    source text
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    -- source with every CRLF pair as one LF: what is missing in bytes is the number of pairs
    v_paired text := _line_ending_facts.source;
    v_lf bigint;
    v_crlf bigint := 0;
    v_cr bigint := 0;
begin
    if strpos(_line_ending_facts.source, E'\r') > 0 then
        v_paired := replace(_line_ending_facts.source, E'\r\n', E'\n');
        v_crlf := octet_length(_line_ending_facts.source) - octet_length(v_paired);
        v_cr := octet_length(v_paired) - octet_length(replace(v_paired, E'\r', ''));
    end if;
    v_lf := octet_length(v_paired) - octet_length(replace(v_paired, E'\n', '')) - v_crlf;
    return jsonb_build_object(
        'style', case
            when (v_lf > 0)::integer + (v_crlf > 0)::integer + (v_cr > 0)::integer > 1 then 'mixed'
            when v_lf > 0 then 'lf'
            when v_crlf > 0 then 'crlf'
            when v_cr > 0 then 'cr'
            else 'none'
        end,
        'lf', v_lf,
        'crlf', v_crlf,
        'cr', v_cr,
        'normalized', v_crlf + v_cr > 0,
        'source_code_points', length(_line_ending_facts.source),
        'source_utf8_bytes', octet_length(_line_ending_facts.source),
        'source_sha256', patchdiff._sha256_hex(_line_ending_facts.source)
    );
end
$function$;
comment on function patchdiff._line_ending_facts(text) is
'source_line_endings of a raw upload: how many lone LF, CRLF pairs and lone CR it has, the style that these
make (none, lf, crlf, cr, mixed), its length in code points and UTF-8 bytes, and the SHA-256 of those bytes.
Contract: line endings and export formats.';
revoke all on function patchdiff._line_ending_facts(text) from public;
