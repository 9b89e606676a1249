-- Changes are applied in runs. Within a run each change lies behind all earlier ones (ascending), or each lies
-- before all earlier ones (descending); so a run's places in the buffer it starts from are known at once, and one
-- pass over that buffer applies it. A transaction of one direction costs one pass whatever its number of changes.
create or replace function patchdiff._apply_changes(
    content text,
    ascii boolean,
    matched text[],
    replacements text[],
    span_starts bigint[],
    byte_starts bigint[],
    out result bytea,
    out misfit text
) returns record
language plpgsql
immutable
parallel unsafe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_count constant integer := cardinality(matched);
    v_matched bytea [] := '{}';
    v_replacements bytea [] := '{}';
    v_ascii boolean := ascii;
    v_first integer := 1;
    v_last integer;
    v_step integer;
    v_change integer;
    v_pieces bytea[];
    v_piece bytea;
    v_byte bigint;
    v_byte_end bigint;
    v_byte_shift bigint;
    v_point bigint;
    v_point_end bigint;
    v_point_shift bigint;
begin
    for v_change in 1 .. v_count loop
        v_matched := v_matched || convert_to(matched[v_change], 'UTF8');
        v_replacements := v_replacements || convert_to(replacements[v_change], 'UTF8');
    end loop;
    result := convert_to(content, 'UTF8');
    while v_first <= v_count loop
        v_last := v_first;
        while v_last < v_count and span_starts[v_last + 1]
            >= span_starts[v_last] + length(replacements[v_last]) loop
            v_last := v_last + 1;
        end loop;
        v_step := 1;
        if v_last = v_first then
            while v_last < v_count and span_starts[v_last + 1] + length(matched[v_last + 1])
                <= span_starts[v_last] loop
                v_last := v_last + 1;
            end loop;
            v_step := -1;
        end if;

        v_pieces := '{}';
        v_piece := '';
        v_byte_end := 0;
        v_point_end := 0;
        v_byte_shift := 0;
        v_point_shift := 0;
        v_change := case v_step when 1 then v_first else v_last end;
        while v_change between v_first and v_last loop
            v_point := span_starts[v_change] - v_point_shift;
            v_byte := case
                when byte_starts[v_change] is not null then byte_starts[v_change] - v_byte_shift
                when v_ascii then v_point
                when v_point < v_point_end then v_byte_end - 1
                else patchdiff._byte_offset(result, v_point_end, v_byte_end, v_point)
            end;
            if
                v_byte < v_byte_end
                or v_byte + octet_length(v_matched[v_change]) > octet_length(result)
                or substring(result from (v_byte + 1)::integer for octet_length(v_matched[v_change]))
                <> v_matched[v_change]
            then
                misfit := format(
                    'change %s: the text at code point %s is not what the record says',
                    v_change, span_starts[v_change]
                );
                return;
            end if;
            if (
                v_point - v_point_end <> case
                    when v_ascii then v_byte - v_byte_end
                    else patchdiff._code_points(
                        substring(result from (v_byte_end + 1)::integer for (v_byte - v_byte_end)::integer)
                    )
                end
            ) then
                misfit := format(
                    'change %s: byte %s is not the start of code point %s',
                    v_change, coalesce(byte_starts[v_change], v_byte), span_starts[v_change]
                );
                return;
            end if;
            -- long pieces are set aside, so that putting short ones together never copies much
            if octet_length(v_piece) > 32768 then
                v_pieces := v_pieces || v_piece;
                v_piece := '';
            end if;
            v_piece := v_piece
                || substring(result from (v_byte_end + 1)::integer for (v_byte - v_byte_end)::integer)
                || v_replacements[v_change];
            v_byte_end := v_byte + octet_length(v_matched[v_change]);
            v_point_end := v_point + length(matched[v_change]);
            if v_step = 1 then
                v_byte_shift := v_byte_shift
                    + octet_length(v_replacements[v_change]) - octet_length(v_matched[v_change]);
                v_point_shift := v_point_shift
                    + length(replacements[v_change]) - length(matched[v_change]);
            end if;
            v_ascii := v_ascii and length(replacements[v_change]) = octet_length(v_replacements[v_change]);
            v_change := v_change + v_step;
        end loop;
        v_piece := v_piece || substring(result from (v_byte_end + 1)::integer);
        if v_pieces = '{}' then
            result := v_piece;
        else
            result := (
                select string_agg(p.piece, ''::bytea order by p.position)
                from unnest(v_pieces || v_piece) with ordinality as p (piece, position)
            );
        end if;
        v_first := v_last + 1;
    end loop;
end
$function$;
comment on function patchdiff._apply_changes(text, boolean, text[], text[], bigint[], bigint[]) is
'Applies changes in order to a text and answers the resulting UTF-8 bytes. Each change names, in the
buffer that it sees, its place in code points and the same place in bytes, or null there to have it counted; it
must find its matched text there. ascii tells that the text is ASCII throughout. misfit says what does not fit, or is null.';
revoke all on function patchdiff._apply_changes(text, boolean, text[], text[], bigint[], bigint[]) from public;
