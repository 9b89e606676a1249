create or replace function patchdiff._original_eol_refusal(
    recorded_style text
) returns jsonb
language plpgsql
stable
parallel safe
security invoker
set search_path = pg_catalog, pg_temp
as $function$
begin
    if _original_eol_refusal.recorded_style is null then
        return patchdiff._refusal(
            'invalid_argument',
            'source_line_endings_unknown',
            'The line endings of this target''s upload were not recorded: export it as canonical_lf or crlf.'
        );
    end if;
    return patchdiff._refusal(
        'invalid_argument',
        'original_eol_unrecoverable',
        'The upload had mixed line endings, and which line had which was not stored:'
        || ' export it as canonical_lf or crlf.'
    );
end
$function$;
comment on function patchdiff._original_eol_refusal(text) is
'Why a target cannot be exported as original_eol: nothing was recorded (null), or the recorded style is mixed.';
revoke all on function patchdiff._original_eol_refusal(text) from public;
