-- req: SQL-001, SQL-002, SQL-004, SQL-015, SQL-016, SQL-017, LOG-029
begin;
select plan(46);

-- Every function there is: what it takes, its volatility, and who may call it (a reader function is the
-- editor's too; a private one is called by other functions only). A new function is entered here.
create temp table expected (signature text primary key, volatility text not null, caller text not null);
insert into expected
values
('_append_ledger_rows(patchdiff.append_only_pdcp_logs, jsonb, text[], text, text[])', 'volatile', 'private'),
('_append_log_row(patchdiff.append_only_pdcp_logs, bigint, text, jsonb, text, jsonb)', 'volatile', 'private'),
('_attempt_changes(patchdiff.append_only_pdcp_logs, boolean)', 'stable', 'private'),
('_apply_changes(text, boolean, text[], text[], bigint[], bigint[])', 'immutable', 'private'),
('_apply_record(text, text, text, boolean, bigint[], bigint[], patchdiff.target_scope_observations[])', 'stable', 'private'),
('_attempt_observation(uuid, uuid)', 'stable', 'private'),
('_batch_operations(jsonb)', 'immutable', 'private'),
('_byte_offset(bytea, bigint, bigint, bigint)', 'immutable', 'private'),
('_canonical_text(text)', 'immutable', 'private'),
('_chain_failures(uuid)', 'stable', 'private'),
('_change_facts(text, bigint, text, bigint, text, text)', 'immutable', 'private'),
('_change_id(jsonb, bigint)', 'immutable', 'private'),
('_check_attempt(text, text, jsonb)', 'immutable', 'private'),
('_check_failure(text, text, text, bigint)', 'immutable', 'private'),
('_check_migrations(integer, jsonb)', 'stable', 'private'),
('_check_places(bigint[], bigint[], bigint)', 'immutable', 'private'),
('_check_rejection(jsonb, jsonb)', 'immutable', 'private'),
('_check_scopes(text, text, jsonb, boolean, bigint)', 'immutable', 'private'),
('_check_warnings(jsonb)', 'immutable', 'private'),
('_code_points(bytea)', 'immutable', 'private'),
('_compact_json(jsonb)', 'immutable', 'private'),
('_conclude_submission(text, text, text, jsonb, jsonb, jsonb)', 'volatile', 'private'),
('_consume_receipts(uuid, patchdiff.target_scope_observations[], uuid, text)', 'volatile', 'private'),
('_consumed_receipts(uuid, uuid)', 'stable', 'private'),
('_cycle_failures(uuid)', 'stable', 'private'),
('_diverged_failure()', 'immutable', 'private'),
('_drop_private_functions(text)', 'volatile', 'private'),
('_drop_views(integer, text)', 'volatile', 'private'),
('_echoed(text)', 'immutable', 'private'),
('_evaluate_spans(text, bigint, jsonb)', 'immutable', 'private'),
('_export_line_ending(text, text)', 'immutable', 'private'),
('_guard_syntax_failure(jsonb)', 'immutable', 'private'),
('_history_arguments_refusal(bigint, bigint, text, boolean)', 'stable', 'private'),
('_history_refusal(jsonb)', 'immutable', 'private'),
('_is_batch(jsonb)', 'immutable', 'private'),
('_is_bundle_of(patchdiff.append_only_pdcp_logs, uuid, patchdiff.target_scope_observations[])', 'stable', 'private'),
('_is_change(text, jsonb)', 'immutable', 'private'),
('_is_issued_elsewhere(uuid, uuid)', 'stable', 'private'),
('_is_offset(jsonb)', 'immutable', 'private'),
('_is_replayable_pair(text, text, text)', 'stable', 'private'),
('_judge_request(uuid, bigint, text, boolean, text, jsonb, jsonb)', 'stable', 'private'),
('_key_conflict(uuid, text, text, jsonb)', 'immutable', 'private'),
('_ledger_answer(uuid, bigint[], boolean)', 'stable', 'private'),
('_ledger_facts(uuid, uuid)', 'stable', 'private'),
('_ledger_failures(uuid)', 'stable', 'private'),
('_ledger_page(uuid, bigint, bigint, uuid)', 'stable', 'private'),
('_line_ending_facts(text)', 'stable', 'private'),
('_line_range(text, boolean, bigint, bigint)', 'immutable', 'private'),
('_line_range_refusal(bigint, bigint, bigint, bigint, bigint)', 'stable', 'private'),
('_line_starts(text, text, bigint, bigint, bigint)', 'stable', 'private'),
('_lineage_failure(uuid, jsonb)', 'stable', 'private'),
('_lines(text)', 'immutable', 'private'),
('_lock_receipts(uuid, jsonb)', 'volatile', 'private'),
('_log_answer(uuid, bigint[], boolean, boolean)', 'stable', 'private'),
('_log_intent_failures(uuid)', 'stable', 'private'),
('_log_page(uuid, bigint, bigint, text, text, text)', 'stable', 'private'),
('_log_page_of_request(uuid, bigint, text, text, text)', 'stable', 'private'),
('_log_row_hash(patchdiff.append_only_pdcp_logs, jsonb)', 'stable', 'private'),
('_missing_attempt(uuid)', 'stable', 'private'),
('_named_receipts(jsonb)', 'immutable', 'private'),
('_no_target_outcome(uuid, jsonb, jsonb)', 'immutable', 'private'),
('_observation_failure(uuid, jsonb)', 'stable', 'private'),
('_opened_outcome(jsonb, bigint, text, bigint)', 'immutable', 'private'),
('_original_eol_refusal(text)', 'stable', 'private'),
('_page_length(bigint)', 'immutable', 'private'),
('_page_limit(bigint)', 'immutable', 'private'),
('_read_lines_refusal(bigint, bigint, bigint, bigint, boolean)', 'stable', 'private'),
('_receipt_failure(uuid, jsonb, text, boolean)', 'stable', 'private'),
('_receipt_page(patchdiff.target_scope_observations, text, boolean, bigint, bigint, boolean)', 'stable', 'private'),
('_receipt_refusal(text)', 'immutable', 'private'),
('_receipts(uuid, jsonb)', 'stable', 'private'),
('_receipts_failure(patchdiff.append_only_pdcp_logs, patchdiff.target_scope_observations[], text)', 'stable', 'private'),
('_record(text, text)', 'stable', 'private'),
('_record_changes(text, text)', 'stable', 'private'),
('_record_functions(text)', 'volatile', 'private'),
('_record_intents(text)', 'stable', 'private'),
('_record_manifest(text, text)', 'stable', 'private'),
('_record_migration(integer, text, text)', 'volatile', 'private'),
('_recorded_attempt(uuid, uuid)', 'stable', 'private'),
('_refusal(text, text, text)', 'stable', 'private'),
('_refuse_change()', 'volatile', 'private'),
('_rejection_diagnostic(text, jsonb)', 'immutable', 'private'),
('_replacement_refusal(text)', 'immutable', 'private'),
('_replacement_shape_failure(text, text)', 'immutable', 'private'),
('_replay(uuid, patchdiff.target_snapshots, bigint)', 'stable', 'private'),
('_replay_attempt(patchdiff.append_only_pdcp_logs, text)', 'stable', 'private'),
('_replay_failure(text, text, bigint, uuid)', 'immutable', 'private'),
('_replay_failures(uuid)', 'stable', 'private'),
('_request_envelope(text, text, jsonb)', 'immutable', 'private'),
('_request_failure(text, text, text, text)', 'immutable', 'private'),
('_request_key_failure(jsonb)', 'immutable', 'private'),
('_runtime_version(text, text)', 'stable', 'private'),
('_save_failure(jsonb, bigint, text, text)', 'immutable', 'private'),
('_save_rejection(uuid, text, bigint, jsonb)', 'immutable', 'private'),
('_scope_misfit(patchdiff.target_scope_observations[], uuid[], bigint[], text[], text[], text[], text[])', 'immutable', 'private'),
('_sha256_hex(text)', 'immutable', 'private'),
('_slice(text, boolean, bigint, bigint)', 'immutable', 'private'),
('_snapshot_failures(uuid)', 'stable', 'private'),
('_span_mismatch(bytea, bigint, text, text, bigint, bigint, bigint, bigint)', 'immutable', 'private'),
('_span_record(text, jsonb)', 'immutable', 'private'),
('_span_shape_failure(jsonb, bigint)', 'immutable', 'private'),
('_spans_shape_failure(text, jsonb)', 'immutable', 'private'),
('_stale_guard_failure(jsonb, bigint, text)', 'immutable', 'private'),
('_submission_answer(text, jsonb, jsonb, boolean, text)', 'immutable', 'private'),
('_target_id(text)', 'immutable', 'private'),
('_target_refusal(text)', 'stable', 'private'),
('_usable_attempt(jsonb)', 'immutable', 'private'),
('_usable_parent(uuid, jsonb)', 'stable', 'private'),
('_utc_timestamp(timestamp with time zone)', 'stable', 'private'),
('_verdict_admits(jsonb, jsonb, boolean)', 'immutable', 'private'),
('_with_contents(uuid, bigint[], jsonb)', 'stable', 'private'),
('_with_ledger_intents(uuid, jsonb)', 'stable', 'private'),
('_with_log_intents(uuid, jsonb)', 'stable', 'private'),
('_within_page_budget(bigint[])', 'immutable', 'private'),
('_workspace_failure(uuid, numeric, numeric, jsonb)', 'stable', 'private'),
('accept_attempt(text, bigint, text, text, text, jsonb, bigint[], bigint[], text, jsonb)', 'volatile', 'editor'),
('change_texts(text, text, bigint)', 'stable', 'reader'),
('content_at(text, bigint)', 'stable', 'reader'),
('displayed(text, bigint)', 'immutable', 'reader'),
('export_target(text, text)', 'stable', 'reader'),
('get_attempt(text, text, boolean)', 'stable', 'reader'),
('get_manifest_ledger(text, boolean, bigint, bigint)', 'stable', 'reader'),
('get_pdcp_log(text, bigint, bigint, text, text, text, boolean)', 'stable', 'reader'),
('get_target(text)', 'stable', 'reader'),
('initialize_target(text, text, text, text)', 'volatile', 'editor'),
('initialize_workspace_target(text, text, text, text, numeric, numeric)', 'volatile', 'editor'),
('issue_observations(text, bigint, text, text, text, jsonb, boolean, bigint, bigint, boolean)', 'volatile', 'editor'),
('observed_page(text, text, text, bigint, bigint, boolean)', 'stable', 'editor'),
('list_attempts(text, bigint, bigint, text)', 'stable', 'reader'),
('list_targets(bigint, text)', 'stable', 'reader'),
('open_attempt(text, text, text, jsonb, jsonb)', 'volatile', 'editor'),
('open_observation(text, boolean)', 'volatile', 'editor'),
('open_publication(text, jsonb, boolean, text, numeric, numeric)', 'volatile', 'editor'),
('preview_attempt(text, jsonb, jsonb)', 'stable', 'reader'),
('read_lines(text, bigint, bigint, bigint, bigint, boolean)', 'stable', 'reader'),
('read_target(text, bigint, bigint)', 'stable', 'reader'),
('reject_attempt(text, bigint, text, text, text, jsonb, jsonb, jsonb)', 'volatile', 'editor'),
('replay_inputs(text)', 'stable', 'reader'),
('replay_spans(text)', 'stable', 'reader'),
('save(text, bigint, text, boolean)', 'volatile', 'editor'),
('save_checkpoint(text, jsonb, boolean)', 'volatile', 'editor'),
('schema_version()', 'stable', 'reader'),
('submit_replacement(text, text, text, bigint, text, text, text, bigint, text)', 'volatile', 'editor'),
('submit_spans(text, text, jsonb, bigint, text, text, text, bigint, text)', 'volatile', 'editor'),
('target_text(text)', 'stable', 'reader'),
('verify_chain(text)', 'stable', 'reader'),
('verify_target(text)', 'stable', 'reader');

create temp view functions as
select
    p.oid, p.proname::text as name, p.proname || '(' || oidvectortypes(p.proargtypes) || ')' as signature, p.prosrc,
    p.proargnames, p.proargtypes, p.prosecdef, p.proconfig, p.proowner::regrole::text as owner, l.lanname,
    e.volatility, e.caller,
    case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end as actual_volatility,
    p.proname !~ '^_' as is_api
from pg_proc as p
inner join pg_language as l on p.prolang = l.oid
left join expected as e on e.signature = p.proname || '(' || oidvectortypes(p.proargtypes) || ')'
where p.pronamespace = 'patchdiff'::regnamespace;
create temp view relations as
select c.oid, c.relname::text as name, c.relkind, c.relacl, c.relowner
from pg_class as c where c.relnamespace = 'patchdiff'::regnamespace and c.relkind not in ('i', 'I');
create temp view target_tables as
select r.* from relations as r
inner join pg_attribute as a on a.attrelid = r.oid and a.attname = 'target_file_id'
where r.relkind in ('r', 'p');

-- functions
select set_eq('select signature from functions', 'select signature from expected', 'these functions and no others');
select is_empty('select signature, actual_volatility from functions where actual_volatility <> volatility', 'volatility');
select is_empty($$select signature from functions where lanname <> 'plpgsql'$$, 'all are plpgsql');
select is_empty(
    $$select signature, proconfig from functions
      where proconfig @> array['search_path=pg_catalog, pg_temp'] is not true$$,
    'every search_path is pinned'
);
select is_empty($$select signature, owner from functions where owner <> 'patchdiff_owner'$$, 'one owner of all');
select is_empty('select signature from functions where is_api and not prosecdef', 'the API acts as its owner');
select is_empty('select signature from functions where not is_api and prosecdef', 'private functions do not');
select is_empty(
    $$select signature from functions where has_function_privilege('public', oid, 'execute')$$, 'PUBLIC may call none'
);
select set_eq(
    $$select signature from functions where has_function_privilege('patchdiff_editor', oid, 'execute')$$,
    $$select signature from expected where caller in ('editor', 'reader')$$, 'what the editor may call'
);
select set_eq(
    $$select signature from functions where has_function_privilege('patchdiff_reader', oid, 'execute')$$,
    $$select signature from expected where caller = 'reader'$$, 'what the reader may call'
);
select is_empty(
    $$select signature from functions where caller = 'reader' and actual_volatility = 'volatile'$$,
    'what the reader may call writes nothing'
);
select is_empty(
    $$select f.signature from functions f join pg_proc p using (oid)
      cross join lateral aclexplode(p.proacl) as a
      where a.is_grantable and a.grantee <> p.proowner$$,
    'nobody may pass a right on'
);
select is_empty(
    $$select signature from functions where coalesce(obj_description(oid, 'pg_proc'), '') = ''$$,
    'every function has a comment'
);

create temp table subtransaction as
with recursive beginning as (
    select f.oid, f.name from functions as f where f.prosrc ~ '\nexception\n'
    union
    select f.oid, f.name
    from functions as f inner join beginning as b on f.prosrc ~ ('\mpatchdiff\.' || b.name || '\(')
)

select b.oid from beginning as b;
select is_empty(
    $$select f.signature from functions f join pg_proc p using (oid) join subtransaction s using (oid)
      where p.proparallel <> 'u'$$,
    'what begins a subtransaction, or calls what does, is parallel unsafe: PostgreSQL 16 refuses it in a worker'
);
select is_empty(
    $$select f.signature from functions f join pg_proc p using (oid)
      where p.provolatile = 'v' and p.proparallel <> 'u'$$,
    'and so is what writes'
);

-- one target at a time, but for two: list_targets lists them all, and _is_issued_elsewhere asks of all others whether an
-- id was issued there, and answers no more, because a receipt of another target is refused with a code of its own
select is_empty(
    $$select signature from functions
      where is_api and name not in (
          'initialize_target', 'initialize_workspace_target', 'list_targets', 'schema_version', 'displayed'
      )
          and proargnames[1] is distinct from 'target_file_id'$$,
    'an API function takes its target first'
);
select is_empty(
    $$select signature from functions where array_position(proargnames, 'target_file_id') > 1$$,
    'target_file_id is never a later argument'
);
select is_empty(
    $$select f.signature from functions f
      where f.name not in (
          'initialize_target', 'initialize_workspace_target', '_is_issued_elsewhere', 'list_targets'
      )
          and exists (select from target_tables t where f.prosrc ~ ('\mpatchdiff\.' || t.name || '\M'))
          and f.proargnames[1] is distinct from 'target_file_id'
          and not exists (
              select from target_tables t join pg_type y on y.typrelid = t.oid where f.proargtypes[0] in (y.oid, y.typarray)
          )$$,
    'whatever reads or writes a target''s rows takes the target, or a row of it, first'
);
select is_empty(
    $$select f.signature, m[1] as table_name, m[2] as alias
      from functions f
      cross join lateral regexp_matches(f.prosrc, '\m(?:from|join|update)\s+(patchdiff\.\w+)(?: as (\w+))?', 'g') as m
      join target_tables t on 'patchdiff.' || t.name = m[1]
      where f.name not in ('_is_issued_elsewhere', 'list_targets')
          and (m[2] is null or f.prosrc !~ ('\m' || m[2] || '\.target_file_id = '))$$,
    'every table that is read is read for one target, but for the list of targets'
);
select is_empty(
    $$select f.signature from functions f
      where f.prosrc ~* '\mexecute\M' and f.name not in ('_drop_private_functions', '_drop_views')$$,
    'no statement is put together at run time, but for the installer''s'
);

-- relations
select has_table('patchdiff', t.name, t.name || ' exists')
from (
    values
    ('cloud_target_files'), ('editing_cycles'), ('target_snapshots'), ('append_only_pdcp_logs'), ('manifest_ledger')
) as t (name);
select is_empty(
    $$select name from relations where relkind in ('r', 'p') and oid not in (select oid from target_tables)
          and name not in ('schema_migrations', 'schema_functions')$$,
    'every table but the installer''s holds targets'' rows'
);
select is_empty(
    $$select t.name, x.indexrelid::regclass from target_tables t join pg_index x on x.indrelid = t.oid
      where (x.indisunique or x.indisprimary) and not exists (
          select from pg_attribute a
          where a.attrelid = t.oid and a.attname = 'target_file_id' and a.attnum = any (x.indkey::int2[])
      )$$,
    'target_file_id is in each primary and unique key'
);
select is_empty(
    $$select t.name, k.conname from target_tables t join pg_constraint k on k.conrelid = t.oid
      where k.contype = 'f' and not exists (
          select from unnest(k.conkey, k.confkey) as c (own, theirs)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.own
          join pg_attribute b on b.attrelid = k.confrelid and b.attnum = c.theirs
          where a.attname = 'target_file_id' and b.attname = 'target_file_id'
      )$$,
    'target_file_id is in each foreign key, on both sides'
);
select is_empty(
    $$select t.name from target_tables t
      where not exists (select from pg_index x where x.indrelid = t.oid and x.indisprimary)$$,
    'every table has a primary key'
);
select is_empty(
    $$select name from relations where coalesce(obj_description(oid, 'pg_class'), '') = ''$$,
    'every table and sequence has a comment'
);
select is_empty(
    $$select r.name, a.attname from relations r join pg_attribute a on a.attrelid = r.oid
      where r.relkind <> 'S' and a.attnum > 0 and not a.attisdropped
          and coalesce(col_description(r.oid, a.attnum), '') = ''$$,
    'every column has a comment'
);
select is_empty(
    $$select r.name, g.tgname from relations r join pg_trigger g on g.tgrelid = r.oid
      where not g.tgisinternal and coalesce(obj_description(g.oid, 'pg_trigger'), '') = ''$$,
    'every trigger has a comment'
);
select columns_are(
    'patchdiff', 'append_only_pdcp_logs',
    array[
        'target_file_id', 'log_sequence', 'pdcp_log_id', 'status', 'protocol_version', 'runtime_version',
        'editing_cycle_id', 'before_version', 'before_hash', 'after_version', 'after_hash', 'failure_reason',
        'failure_detail', 'failed_change_id', 'parent_pdcp_log_id', 'regeneration_attempt', 'source',
        'client_request_id', 'request_envelope', 'request_fingerprint', 'pdcp_content', 'pdcp_content_hash', 'intent',
        'intent_truncated', 'diagnostic_json', 'created_at', 'previous_row_hash', 'row_hash', 'observation_id'
    ],
    'the log''s columns'
);

-- who may do what
select is_empty($$select name from relations where relowner <> 'patchdiff_owner'::regrole$$, 'one owner of all relations');
select is_empty(
    $$select r.name, a.grantee::regrole, a.privilege_type from relations r
      cross join lateral aclexplode(r.relacl) as a where a.grantee <> r.relowner$$,
    'nobody else has a right on a table or sequence'
);
select is_empty(
    $$select r.name, a.attname from relations r join pg_attribute a on a.attrelid = r.oid where a.attacl is not null$$,
    'nor on a column'
);
select is_empty(
    $$select r.rolname from pg_roles r
      where r.rolname in ('patchdiff_owner', 'patchdiff_editor', 'patchdiff_reader')
          and (r.rolcanlogin or r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolbypassrls)$$,
    'the roles cannot log in and have no power elsewhere'
);
select set_eq(
    $$select coalesce(a.grantee::regrole::text, 'public'), a.privilege_type from pg_namespace n
      cross join lateral aclexplode(n.nspacl) as a
      where n.nspname = 'patchdiff' and a.grantee <> n.nspowner$$,
    $$values ('patchdiff_editor', 'USAGE'), ('patchdiff_reader', 'USAGE')$$,
    'the schema is open to the two roles, for use only'
);
select is(
    (select n.nspowner::regrole::text from pg_namespace as n where n.nspname = 'patchdiff'), 'patchdiff_owner',
    'the schema''s owner'
);

-- nothing elsewhere
create temp view elsewhere as
select n.oid from pg_namespace as n
where
    n.nspname not in ('patchdiff', 'tap', 'pg_catalog', 'information_schema')
    and n.nspname !~ '^pg_(toast|temp)';
select is_empty(
    'select c.oid::regclass from pg_class c where c.relnamespace in (select oid from elsewhere)',
    'no table, view or sequence outside the schema'
);
select is_empty(
    'select p.oid::regprocedure from pg_proc p where p.pronamespace in (select oid from elsewhere)',
    'no function outside the schema'
);
select is_empty(
    'select t.oid::regtype from pg_type t where t.typnamespace in (select oid from elsewhere)',
    'no type outside the schema'
);

-- views
select set_eq(
    $$select name from relations where relkind in ('v', 'm')$$,
    array['accepted_changes', 'attempts', 'damaged_targets', 'failure_rates', 'open_cycles', 'who_and_when'],
    'these views and no others'
);
select is_empty(
    $$select r.name from relations r
      where r.relkind = 'v' and not exists (
          select from pg_attribute a where a.attrelid = r.oid and a.attname = 'target_file_id'
      )$$,
    'each row of a view names its target'
);
select is_empty(
    $$select r.name from relations r
      cross join lateral (select pg_get_viewdef(r.oid) as text) as d
      where r.relkind = 'v' and (
          select count(*) from target_tables t
          cross join lateral regexp_matches(d.text, '\mpatchdiff\.' || t.name || '\M', 'g')
      ) <> 1 + (
          select count(*) from regexp_matches(d.text, '\.target_file_id = \w+\.target_file_id', 'g')
      )$$,
    'views join rows of one target only'
);
select set_eq(
    $$select f.name from functions f join pg_proc p using (oid)
      cross join lateral aclexplode(p.proacl) as a
      where a.grantee = 'pg_read_all_data'::regrole$$,
    array['change_texts', 'displayed', 'verify_chain', 'verify_target'],
    'whoever may read all data may call what views and reports call'
);

select * from finish();
rollback;
