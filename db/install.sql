-- Written by `make install-sql`, not by hand. Installs or upgrades the schema:
--     psql --no-psqlrc --file=db/install.sql "$DATABASE_URL"
\set ON_ERROR_STOP on
begin isolation level read committed read write;
\ir bootstrap.sql
select patchdiff._check_migrations(newest => 5, known => '{"1": "bb64b06440a4ffea9f10e8f6aee89851f03df9f9eb60ebee22b9ab6b70dd40f9", "2": "01076a46dcf4589443e574b5eeccd7bb6a475615ae210451ed3be4cfb9f16551", "3": "3b13fc89d9290b198e01c2391d870b9469be836236f06081662e6f55f055c86f", "4": "6f400094bbad09630c582872a0ab56f4dce1aa72e9646d1175b791bbad717ae6", "5": "7edf4dc1e370a799f2f41a1f85b535fd204a481d375893896046b7563d7fe082"}') \gset
select patchdiff._drop_views(newest => 5, sha256 => '10118d4b00aec0484a33b5d5390b5fcf08ddb73bbda8d4eede549faeca094032') \gset
select 1 not in (
    select m.migration_number from patchdiff.schema_migrations as m
) as patchdiff_applies \gset
\if :patchdiff_applies
\ir migrations/0001_tables.sql
select patchdiff._record_migration(migration_number => 1, migration_name => '0001_tables', sha256 => 'bb64b06440a4ffea9f10e8f6aee89851f03df9f9eb60ebee22b9ab6b70dd40f9') \gset
\endif
select 2 not in (
    select m.migration_number from patchdiff.schema_migrations as m
) as patchdiff_applies \gset
\if :patchdiff_applies
\ir migrations/0002_append_only.sql
select patchdiff._record_migration(migration_number => 2, migration_name => '0002_append_only', sha256 => '01076a46dcf4589443e574b5eeccd7bb6a475615ae210451ed3be4cfb9f16551') \gset
\endif
select 3 not in (
    select m.migration_number from patchdiff.schema_migrations as m
) as patchdiff_applies \gset
\if :patchdiff_applies
\ir migrations/0003_history.sql
select patchdiff._record_migration(migration_number => 3, migration_name => '0003_history', sha256 => '3b13fc89d9290b198e01c2391d870b9469be836236f06081662e6f55f055c86f') \gset
\endif
select 4 not in (
    select m.migration_number from patchdiff.schema_migrations as m
) as patchdiff_applies \gset
\if :patchdiff_applies
\ir migrations/0004_observation.sql
select patchdiff._record_migration(migration_number => 4, migration_name => '0004_observation', sha256 => '6f400094bbad09630c582872a0ab56f4dce1aa72e9646d1175b791bbad717ae6') \gset
\endif
select 5 not in (
    select m.migration_number from patchdiff.schema_migrations as m
) as patchdiff_applies \gset
\if :patchdiff_applies
\ir migrations/0005_workspace.sql
select patchdiff._record_migration(migration_number => 5, migration_name => '0005_workspace', sha256 => '7edf4dc1e370a799f2f41a1f85b535fd204a481d375893896046b7563d7fe082') \gset
\endif
select patchdiff._drop_private_functions(sha256 => '10118d4b00aec0484a33b5d5390b5fcf08ddb73bbda8d4eede549faeca094032') \gset
\ir functions/_append_ledger_rows.sql
\ir functions/_append_log_row.sql
\ir functions/_apply_changes.sql
\ir functions/_apply_record.sql
\ir functions/_attempt_changes.sql
\ir functions/_attempt_observation.sql
\ir functions/_batch_operations.sql
\ir functions/_byte_offset.sql
\ir functions/_canonical_text.sql
\ir functions/_chain_failures.sql
\ir functions/_change_facts.sql
\ir functions/_change_id.sql
\ir functions/_check_attempt.sql
\ir functions/_check_failure.sql
\ir functions/_check_places.sql
\ir functions/_check_rejection.sql
\ir functions/_check_scopes.sql
\ir functions/_check_warnings.sql
\ir functions/_code_points.sql
\ir functions/_compact_json.sql
\ir functions/_conclude_submission.sql
\ir functions/_consume_receipts.sql
\ir functions/_consumed_receipts.sql
\ir functions/_cycle_failures.sql
\ir functions/_diverged_failure.sql
\ir functions/_echoed.sql
\ir functions/_evaluate_spans.sql
\ir functions/_export_line_ending.sql
\ir functions/_guard_syntax_failure.sql
\ir functions/_history_arguments_refusal.sql
\ir functions/_history_refusal.sql
\ir functions/_is_batch.sql
\ir functions/_is_bundle_of.sql
\ir functions/_is_change.sql
\ir functions/_is_issued_elsewhere.sql
\ir functions/_is_offset.sql
\ir functions/_is_replayable_pair.sql
\ir functions/_judge_request.sql
\ir functions/_key_conflict.sql
\ir functions/_ledger_answer.sql
\ir functions/_ledger_facts.sql
\ir functions/_ledger_failures.sql
\ir functions/_ledger_page.sql
\ir functions/_line_ending_facts.sql
\ir functions/_line_range.sql
\ir functions/_line_range_refusal.sql
\ir functions/_line_starts.sql
\ir functions/_lineage_failure.sql
\ir functions/_lines.sql
\ir functions/_lock_receipts.sql
\ir functions/_log_answer.sql
\ir functions/_log_intent_failures.sql
\ir functions/_log_page.sql
\ir functions/_log_page_of_request.sql
\ir functions/_log_row_hash.sql
\ir functions/_missing_attempt.sql
\ir functions/_named_receipts.sql
\ir functions/_no_target_outcome.sql
\ir functions/_observation_failure.sql
\ir functions/_opened_outcome.sql
\ir functions/_original_eol_refusal.sql
\ir functions/_page_length.sql
\ir functions/_page_limit.sql
\ir functions/_read_lines_refusal.sql
\ir functions/_receipt_failure.sql
\ir functions/_receipt_page.sql
\ir functions/_receipt_refusal.sql
\ir functions/_receipts.sql
\ir functions/_receipts_failure.sql
\ir functions/_record.sql
\ir functions/_record_changes.sql
\ir functions/_record_intents.sql
\ir functions/_record_manifest.sql
\ir functions/_recorded_attempt.sql
\ir functions/_refusal.sql
\ir functions/_rejection_diagnostic.sql
\ir functions/_replacement_refusal.sql
\ir functions/_replacement_shape_failure.sql
\ir functions/_replay.sql
\ir functions/_replay_attempt.sql
\ir functions/_replay_failure.sql
\ir functions/_replay_failures.sql
\ir functions/_request_envelope.sql
\ir functions/_request_failure.sql
\ir functions/_request_key_failure.sql
\ir functions/_runtime_version.sql
\ir functions/_save_failure.sql
\ir functions/_save_rejection.sql
\ir functions/_scope_misfit.sql
\ir functions/_sha256_hex.sql
\ir functions/_slice.sql
\ir functions/_snapshot_failures.sql
\ir functions/_span_mismatch.sql
\ir functions/_span_record.sql
\ir functions/_span_shape_failure.sql
\ir functions/_spans_shape_failure.sql
\ir functions/_stale_guard_failure.sql
\ir functions/_submission_answer.sql
\ir functions/_target_id.sql
\ir functions/_target_refusal.sql
\ir functions/_usable_attempt.sql
\ir functions/_usable_parent.sql
\ir functions/_utc_timestamp.sql
\ir functions/_verdict_admits.sql
\ir functions/_with_contents.sql
\ir functions/_with_ledger_intents.sql
\ir functions/_with_log_intents.sql
\ir functions/_within_page_budget.sql
\ir functions/_workspace_failure.sql
\ir functions/accept_attempt.sql
\ir functions/change_texts.sql
\ir functions/content_at.sql
\ir functions/displayed.sql
\ir functions/export_target.sql
\ir functions/get_attempt.sql
\ir functions/get_manifest_ledger.sql
\ir functions/get_pdcp_log.sql
\ir functions/get_target.sql
\ir functions/initialize_target.sql
\ir functions/initialize_workspace_target.sql
\ir functions/issue_observations.sql
\ir functions/list_attempts.sql
\ir functions/list_targets.sql
\ir functions/observed_page.sql
\ir functions/open_attempt.sql
\ir functions/open_observation.sql
\ir functions/open_publication.sql
\ir functions/preview_attempt.sql
\ir functions/read_lines.sql
\ir functions/read_target.sql
\ir functions/reject_attempt.sql
\ir functions/replay_inputs.sql
\ir functions/replay_spans.sql
\ir functions/save.sql
\ir functions/save_checkpoint.sql
\ir functions/schema_version.sql
\ir functions/submit_replacement.sql
\ir functions/submit_spans.sql
\ir functions/target_text.sql
\ir functions/verify_chain.sql
\ir functions/verify_target.sql
\ir views/accepted_changes.sql
\ir views/attempts.sql
\ir views/damaged_targets.sql
\ir views/failure_rates.sql
\ir views/open_cycles.sql
\ir views/who_and_when.sql
select patchdiff._record_functions(sha256 => '10118d4b00aec0484a33b5d5390b5fcf08ddb73bbda8d4eede549faeca094032') \gset
commit;
