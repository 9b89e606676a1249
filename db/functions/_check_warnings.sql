create or replace function patchdiff._check_warnings(
    warnings jsonb
) returns void
language plpgsql
immutable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if warnings is not null and (
        jsonb_typeof(warnings) = 'object'
        and jsonb_typeof(warnings -> 'warnings') = 'array'
        and jsonb_array_length(warnings -> 'warnings') between 1 and 16
        and not exists (
            select from jsonb_array_elements(warnings -> 'warnings') as w (warning)
            where (
                jsonb_typeof(w.warning) = 'object'
                and jsonb_typeof(w.warning -> 'code') = 'string'
                and jsonb_typeof(w.warning -> 'detail') = 'string'
            ) is not true
        )
        and (warnings -> 'warning_count')::text ~ '^[1-9][0-9]{0,8}$'
        and (warnings ->> 'warning_count')::bigint >= jsonb_array_length(warnings -> 'warnings')
        and jsonb_typeof(warnings -> 'warnings_truncated') = 'boolean'
        and warnings - array['warnings', 'warning_count', 'warnings_truncated'] = '{}'
        and length(warnings::text) <= 65536
    ) is not true then
        raise exception 'warnings have another shape than an accepted row keeps'
            using errcode = 'PD022',
            hint = 'Send null, or exactly warnings (1 to 16), warning_count and warnings_truncated.';
    end if;
end
$function$;
comment on function patchdiff._check_warnings(jsonb) is
'Raises PD022 unless the warnings of an accepted attempt are null or have exactly the stored members.';
revoke all on function patchdiff._check_warnings(jsonb) from public;
