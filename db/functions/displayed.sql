-- What draws nothing, stands over its neighbours, changes their direction or drives the terminal is shown as its
-- number. Where terminals may draw one column or two, two are counted.
create or replace function patchdiff.displayed(
    source text,
    columns bigint
) returns text
language plpgsql
immutable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
    v_columns constant integer := least(greatest(displayed.columns, 1), 10000);
    -- each character takes a column or more, so that no more of them are looked at
    v_head constant text := left(displayed.source, v_columns + 1);
    v_shown text;
begin
    select
        coalesce(
            string_agg(w.shown, '' order by w.position) filter (
                where w.reach <= v_columns - case when w.total > v_columns then 1 else 0 end
            ),
            ''
        ) || case when max(w.total) > v_columns then '…' else '' end
    into v_shown
    from (
        select
            e.position, e.shown,
            sum(e.width) over (order by e.position) as reach,
            sum(e.width) over () as total
        from (
            select
                c.position, s.shown,
                case
                    when
                        s.shown ~ '^[\u1100-\u115f\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\u2e80-\ua4cf\ua960-\ua97f]$'
                        or s.shown ~ '^[\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffef\U00010000-\U0010ffff]$'
                        then 2
                    else length(s.shown)
                end as width
            from string_to_table(v_head, null) with ordinality as c (character, position)
            cross join lateral (
                select case
                    when c.character = E'\n' then '\n'
                    when c.character = E'\t' then '\t'
                    when c.character = E'\r' then '\r'
                    when c.character = '\' then '\\'
                    when c.character ~ '[\u0001-\u001f\u007f-\u00a0\u00ad]'
                        then '\x' || lpad(to_hex(ascii(c.character)), 2, '0')
                    when
                        c.character ~ '[\u0300-\u036f\u061c\u180e\u1ab0-\u1aff\u1dc0-\u1dff\u2000-\u200f\u2028-\u202f]'
                        or c.character ~ '[\u1680\u3000\u205f-\u206f\u20d0-\u20ff\ue000-\uf8ff\ufe00-\ufe0f\ufe20-\ufe2f]'
                        or c.character ~ '[\ufeff\ufff0-\ufffb\ufffe\uffff]'
                        then '\u' || lpad(to_hex(ascii(c.character)), 4, '0')
                    when c.character ~ '[\U000e0000-\U0010ffff]'
                        then '\U' || lpad(to_hex(ascii(c.character)), 8, '0')
                    else c.character
                end as shown
            ) as s
        ) as e
    ) as w;
    return case when displayed.source is not null then v_shown end;
end
$function$;
comment on function patchdiff.displayed(text, bigint) is
'A text as one line for a terminal, at most so many columns wide and cut with … where it is longer; 1 to 10,000
columns. Line feeds, tabs, carriage returns and backslashes are shown as \n, \t, \r and \\, other control characters,
combining and invisible ones and all blanks but the space by number, as \x1b or \u200b. Null for null. Contract: audit.';
revoke all on function patchdiff.displayed(text, bigint) from public;
grant execute on function patchdiff.displayed(text, bigint) to patchdiff_editor, patchdiff_reader, pg_read_all_data;
