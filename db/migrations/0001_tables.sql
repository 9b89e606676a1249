-- Tables, keys and indexes. Every primary, unique and foreign key of a target's rows contains
-- target_file_id, so that the tables can be distributed by it.

create sequence patchdiff.log_sequence as bigint;
comment on sequence patchdiff.log_sequence is
'log_sequence of append_only_pdcp_logs: drawn over all targets, while the target''s row is locked.';

create sequence patchdiff.ledger_sequence as bigint;
comment on sequence patchdiff.ledger_sequence is
'ledger_sequence of manifest_ledger: drawn over all targets, while the target''s row is locked.';

create table patchdiff.cloud_target_files (
    target_file_id uuid not null primary key,
    filename text not null,
    target_type text not null,
    project_id uuid,
    current_content text collate "C" not null,
    current_hash text not null,
    version bigint not null default 0 check (version >= 0),
    content_code_points bigint generated always as (length(current_content)) stored,
    content_utf8_bytes bigint generated always as (octet_length(current_content)) stored,
    active_editing_cycle_id uuid not null,
    source_line_endings jsonb,
    log_head_sequence bigint not null default 0,
    log_head_hash text not null default '',
    created_at timestamptz not null default pg_catalog.now(),
    content_changed_at timestamptz not null default pg_catalog.now()
);
-- One hot copy per target, rewritten by every edit: compressing it costs more than it saves.
alter table patchdiff.cloud_target_files alter column current_content set storage external;
-- Each edit leaves a dead copy of the text: collect it early.
alter table patchdiff.cloud_target_files set (
    autovacuum_vacuum_scale_factor = 0.02,
    toast.autovacuum_vacuum_scale_factor = 0.02
);
create index cloud_target_files_project_id on patchdiff.cloud_target_files (project_id, target_file_id)
where project_id is not null;
comment on table patchdiff.cloud_target_files is
'One row per target: a document, its canonical LF text, and its version. Locked first by every writer.';
comment on column patchdiff.cloud_target_files.target_file_id is 'The target''s identity.';
comment on column patchdiff.cloud_target_files.filename is 'Document file name, as given at initialization.';
comment on column patchdiff.cloud_target_files.target_type is
'MIME type or language identifier; text/plain when none was given.';
comment on column patchdiff.cloud_target_files.project_id is 'Project the target belongs to, or null.';
comment on column patchdiff.cloud_target_files.current_content is
'Canonical text: every CRLF pair and lone CR of the upload and of the edits is one LF.';
comment on column patchdiff.cloud_target_files.current_hash is
'Lowercase hex SHA-256 of the UTF-8 bytes of current_content.';
comment on column patchdiff.cloud_target_files.version is
'Number of accepted transactions: 0 when fresh, one more with each.';
comment on column patchdiff.cloud_target_files.content_code_points is
'Length of current_content in code points.';
comment on column patchdiff.cloud_target_files.content_utf8_bytes is
'Length of current_content in UTF-8 bytes; equal to the code points exactly when the text is ASCII.';
comment on column patchdiff.cloud_target_files.active_editing_cycle_id is 'The one open editing cycle.';
comment on column patchdiff.cloud_target_files.source_line_endings is
'Line endings, sizes and SHA-256 of the raw upload; null when they were not recorded. Never changes.';
comment on column patchdiff.cloud_target_files.log_head_sequence is
'log_sequence of the newest attempt, 0 before the first.';
comment on column patchdiff.cloud_target_files.log_head_hash is
'row_hash of the newest attempt, empty before the first: the head of the hash chain.';
comment on column patchdiff.cloud_target_files.created_at is 'When the target was initialized.';
comment on column patchdiff.cloud_target_files.content_changed_at is
'When the newest accepted transaction was recorded, or the target initialized.';

create table patchdiff.editing_cycles (
    target_file_id uuid not null references patchdiff.cloud_target_files,
    editing_cycle_id uuid not null,
    opened_at timestamptz not null default pg_catalog.now(),
    opened_version bigint not null check (opened_version >= 0),
    closed_at timestamptz,
    closed_version bigint check (closed_version >= opened_version),
    primary key (target_file_id, editing_cycle_id),
    check ((closed_at is null) = (closed_version is null))
);
create unique index editing_cycles_one_open on patchdiff.editing_cycles (target_file_id)
where closed_at is null;
comment on table patchdiff.editing_cycles is
'Editing cycles of a target: exactly one is open; a save closes it and opens the next.';
comment on column patchdiff.editing_cycles.target_file_id is 'The target.';
comment on column patchdiff.editing_cycles.editing_cycle_id is 'The cycle''s identity within the target.';
comment on column patchdiff.editing_cycles.opened_at is 'When it was opened.';
comment on column patchdiff.editing_cycles.opened_version is 'The target''s version when it was opened.';
comment on column patchdiff.editing_cycles.closed_at is 'When a save closed it; null while open.';
comment on column patchdiff.editing_cycles.closed_version is
'The target''s version when it was closed; null while open.';

alter table patchdiff.cloud_target_files add constraint cloud_target_files_active_editing_cycle
foreign key (target_file_id, active_editing_cycle_id)
references patchdiff.editing_cycles (target_file_id, editing_cycle_id)
deferrable initially deferred;

create table patchdiff.target_snapshots (
    target_file_id uuid not null references patchdiff.cloud_target_files,
    snapshot_id uuid not null,
    editing_cycle_id uuid not null,
    snapshot_reason text not null check (snapshot_reason in ('initial', 'save_checkpoint')),
    version bigint not null check (version >= 0),
    content text collate "C" not null,
    content_hash text not null,
    created_at timestamptz not null default pg_catalog.now(),
    primary key (target_file_id, snapshot_id),
    foreign key (target_file_id, editing_cycle_id) references patchdiff.editing_cycles
);
create index target_snapshots_version on patchdiff.target_snapshots (target_file_id, version);
create unique index target_snapshots_one_initial on patchdiff.target_snapshots (target_file_id)
where snapshot_reason = 'initial';
comment on table patchdiff.target_snapshots is
'Whole texts kept for good: the initial one, and one per save.';
comment on column patchdiff.target_snapshots.target_file_id is 'The target.';
comment on column patchdiff.target_snapshots.snapshot_id is 'The snapshot''s identity within the target.';
comment on column patchdiff.target_snapshots.editing_cycle_id is
'The cycle that was open when the snapshot was taken.';
comment on column patchdiff.target_snapshots.snapshot_reason is 'initial or save_checkpoint.';
comment on column patchdiff.target_snapshots.version is 'The target''s version at the snapshot.';
comment on column patchdiff.target_snapshots.content is 'The canonical text at the snapshot.';
comment on column patchdiff.target_snapshots.content_hash is
'Lowercase hex SHA-256 of the UTF-8 bytes of content.';
comment on column patchdiff.target_snapshots.created_at is 'When the snapshot was taken.';

create table patchdiff.append_only_pdcp_logs (
    target_file_id uuid not null references patchdiff.cloud_target_files,
    log_sequence bigint not null check (log_sequence > 0),
    pdcp_log_id uuid not null,
    status text not null check (status in ('accepted', 'rejected')),
    protocol_version text not null,
    runtime_version text,
    editing_cycle_id uuid not null,
    before_version bigint not null,
    before_hash text not null,
    after_version bigint,
    after_hash text,
    failure_reason text,
    failure_detail text,
    failed_change_id text,
    parent_pdcp_log_id uuid,
    regeneration_attempt bigint check (regeneration_attempt >= 1),
    source text,
    client_request_id text,
    request_envelope text not null,
    request_fingerprint text not null,
    pdcp_content text collate "C" not null,
    pdcp_content_hash text not null,
    intent text,
    intent_truncated boolean not null default false,
    diagnostic_json jsonb,
    created_at timestamptz not null,
    previous_row_hash text not null,
    row_hash text not null,
    primary key (target_file_id, log_sequence),
    unique (target_file_id, pdcp_log_id),
    foreign key (target_file_id, editing_cycle_id) references patchdiff.editing_cycles,
    foreign key (target_file_id, parent_pdcp_log_id)
    references patchdiff.append_only_pdcp_logs (target_file_id, pdcp_log_id),
    check ((status = 'accepted') = (after_version is not null)),
    check ((status = 'accepted') = (after_hash is not null)),
    check ((status = 'rejected') = (failure_reason is not null)),
    check (char_length(intent) <= 256)
);
create unique index append_only_pdcp_logs_client_request_id
on patchdiff.append_only_pdcp_logs (target_file_id, client_request_id)
where client_request_id is not null;
create unique index append_only_pdcp_logs_after_version
on patchdiff.append_only_pdcp_logs (target_file_id, after_version)
where after_version is not null;
create index append_only_pdcp_logs_status
on patchdiff.append_only_pdcp_logs (target_file_id, status, log_sequence);
create index append_only_pdcp_logs_pdcp_content_hash
on patchdiff.append_only_pdcp_logs (target_file_id, pdcp_content_hash, log_sequence);
comment on table patchdiff.append_only_pdcp_logs is
'Every attempt to edit a target, accepted or rejected, one row each, never changed and never removed.';
comment on column patchdiff.append_only_pdcp_logs.target_file_id is 'The target.';
comment on column patchdiff.append_only_pdcp_logs.log_sequence is
'Order of the attempts: within one target it is the order of the commits.';
comment on column patchdiff.append_only_pdcp_logs.pdcp_log_id is 'The attempt''s identity.';
comment on column patchdiff.append_only_pdcp_logs.status is 'accepted or rejected.';
comment on column patchdiff.append_only_pdcp_logs.protocol_version is
'Format of the record, such as patchdiff-tx/1.';
comment on column patchdiff.append_only_pdcp_logs.runtime_version is
'Evaluator that judged the record; replay uses the same.';
comment on column patchdiff.append_only_pdcp_logs.editing_cycle_id is
'The cycle that was open at the attempt.';
comment on column patchdiff.append_only_pdcp_logs.before_version is 'The target''s version at the attempt.';
comment on column patchdiff.append_only_pdcp_logs.before_hash is 'The target''s hash at the attempt.';
comment on column patchdiff.append_only_pdcp_logs.after_version is
'The version an accepted attempt made; null for a rejected one.';
comment on column patchdiff.append_only_pdcp_logs.after_hash is
'The hash an accepted attempt made; null for a rejected one.';
comment on column patchdiff.append_only_pdcp_logs.failure_reason is
'Why it was rejected, one stable word; null when accepted.';
comment on column patchdiff.append_only_pdcp_logs.failure_detail is
'The same in a sentence; null when accepted.';
comment on column patchdiff.append_only_pdcp_logs.failed_change_id is
'The change at fault, where one is.';
comment on column patchdiff.append_only_pdcp_logs.parent_pdcp_log_id is
'The rejected attempt of the same target that this one retries, or null.';
comment on column patchdiff.append_only_pdcp_logs.regeneration_attempt is
'One-based number of the retry as the caller gave it, or null.';
comment on column patchdiff.append_only_pdcp_logs.source is
'Who made the proposal, in the caller''s words; null when the call''s own was unusable.';
comment on column patchdiff.append_only_pdcp_logs.client_request_id is
'The request key bound to this row; null without a key and on key conflicts.';
comment on column patchdiff.append_only_pdcp_logs.request_envelope is
'Compact JSON of what identifies the request: protocol, record hash, both guards, parent.';
comment on column patchdiff.append_only_pdcp_logs.request_fingerprint is
'Lowercase hex SHA-256 of the UTF-8 bytes of request_envelope.';
comment on column patchdiff.append_only_pdcp_logs.pdcp_content is
'The record as submitted: compact JSON text, or the evidence of invalid input.';
comment on column patchdiff.append_only_pdcp_logs.pdcp_content_hash is
'Lowercase hex SHA-256 of the UTF-8 bytes of pdcp_content.';
comment on column patchdiff.append_only_pdcp_logs.intent is
'The record''s intent, at most 256 code points; null when it has none.';
comment on column patchdiff.append_only_pdcp_logs.intent_truncated is
'True when the record''s intent is longer than the column.';
comment on column patchdiff.append_only_pdcp_logs.diagnostic_json is
'Diagnostic of a rejection, warnings of an acceptance that has some, or null.';
comment on column patchdiff.append_only_pdcp_logs.created_at is 'When the attempt was recorded.';
comment on column patchdiff.append_only_pdcp_logs.previous_row_hash is
'row_hash of the target''s attempt before this one, empty on the first.';
comment on column patchdiff.append_only_pdcp_logs.row_hash is
'Lowercase hex SHA-256 over this row, its ledger facts and previous_row_hash.';

create table patchdiff.manifest_ledger (
    target_file_id uuid not null references patchdiff.cloud_target_files,
    ledger_sequence bigint not null check (ledger_sequence > 0),
    pdcp_log_id uuid not null,
    log_sequence bigint not null,
    editing_cycle_id uuid not null,
    before_version bigint not null,
    after_version bigint not null,
    change_index bigint not null check (change_index >= 1),
    change_id text not null,
    intent text,
    transaction_intent text,
    rationale text,
    input_state text,
    output_state text,
    affected_region text,
    user_visible_change text,
    risk text,
    origin text not null,
    derived jsonb not null,
    created_at timestamptz not null,
    primary key (target_file_id, ledger_sequence),
    unique (target_file_id, pdcp_log_id, change_index),
    foreign key (target_file_id, pdcp_log_id)
    references patchdiff.append_only_pdcp_logs (target_file_id, pdcp_log_id),
    foreign key (target_file_id, editing_cycle_id) references patchdiff.editing_cycles
);
create index manifest_ledger_editing_cycle_id
on patchdiff.manifest_ledger (target_file_id, editing_cycle_id, ledger_sequence);
comment on table patchdiff.manifest_ledger is
'Every change of every accepted attempt, with its derived facts; never changed and never removed.';
comment on column patchdiff.manifest_ledger.target_file_id is 'The target.';
comment on column patchdiff.manifest_ledger.ledger_sequence is 'Order of the changes.';
comment on column patchdiff.manifest_ledger.pdcp_log_id is 'The accepted attempt.';
comment on column patchdiff.manifest_ledger.log_sequence is 'log_sequence of that attempt.';
comment on column patchdiff.manifest_ledger.editing_cycle_id is 'The cycle that was open.';
comment on column patchdiff.manifest_ledger.before_version is 'The target''s version before the attempt.';
comment on column patchdiff.manifest_ledger.after_version is 'The target''s version after the attempt.';
comment on column patchdiff.manifest_ledger.change_index is 'One-based position of the change in its record.';
comment on column patchdiff.manifest_ledger.change_id is
'The change''s name in its record: given, or chg_001 and so on by position.';
comment on column patchdiff.manifest_ledger.intent is
'The change''s rationale where there is one, otherwise the transaction''s intent.';
comment on column patchdiff.manifest_ledger.transaction_intent is 'The record''s intent, whole.';
comment on column patchdiff.manifest_ledger.rationale is 'The change''s own rationale, or null.';
comment on column patchdiff.manifest_ledger.input_state is 'Null for typed records.';
comment on column patchdiff.manifest_ledger.output_state is 'Null for typed records.';
comment on column patchdiff.manifest_ledger.affected_region is 'Null for typed records.';
comment on column patchdiff.manifest_ledger.user_visible_change is 'Null for typed records.';
comment on column patchdiff.manifest_ledger.risk is 'low, medium or high where the change says so, or null.';
comment on column patchdiff.manifest_ledger.origin is 'typed for the transaction formats.';
comment on column patchdiff.manifest_ledger.derived is
'The change''s fact: span in code points of the buffer that it saw, lengths and SHA-256 of both texts.';
comment on column patchdiff.manifest_ledger.created_at is 'When the attempt was recorded.';

create table patchdiff.target_scope_bundles (
    target_file_id uuid not null references patchdiff.cloud_target_files,
    observation_bundle_id uuid not null,
    editing_cycle_id uuid not null,
    target_version bigint not null,
    target_current_hash text not null,
    engine text not null,
    language text not null,
    created_at timestamptz not null default pg_catalog.now(),
    primary key (target_file_id, observation_bundle_id),
    foreign key (target_file_id, editing_cycle_id) references patchdiff.editing_cycles
);
comment on table patchdiff.target_scope_bundles is
'Receipts of several scopes that were observed together on one version of a target.';
comment on column patchdiff.target_scope_bundles.target_file_id is 'The target.';
comment on column patchdiff.target_scope_bundles.observation_bundle_id is
'The bundle''s identity within the target.';
comment on column patchdiff.target_scope_bundles.editing_cycle_id is 'The cycle it was issued in.';
comment on column patchdiff.target_scope_bundles.target_version is 'The version that was observed.';
comment on column patchdiff.target_scope_bundles.target_current_hash is 'The hash that was observed.';
comment on column patchdiff.target_scope_bundles.engine is 'Identity of the structural engine.';
comment on column patchdiff.target_scope_bundles.language is 'Language the engine read the text as.';
comment on column patchdiff.target_scope_bundles.created_at is 'When it was issued.';

create table patchdiff.target_scope_observations (
    target_file_id uuid not null references patchdiff.cloud_target_files,
    observation_id uuid not null,
    observation_bundle_id uuid,
    ordinal bigint check (ordinal >= 1),
    editing_cycle_id uuid not null,
    target_version bigint not null,
    target_current_hash text not null,
    engine text not null,
    language text not null,
    symbol_name text not null,
    symbol_kind text not null,
    scope_start bigint not null check (scope_start >= 0),
    scope_end bigint not null check (scope_end >= scope_start),
    observed_scope_hash text not null,
    consumed_by_pdcp_log_id uuid,
    consumed_at timestamptz,
    created_at timestamptz not null default pg_catalog.now(),
    primary key (target_file_id, observation_id),
    unique (target_file_id, observation_bundle_id, ordinal),
    foreign key (target_file_id, observation_bundle_id) references patchdiff.target_scope_bundles,
    foreign key (target_file_id, editing_cycle_id) references patchdiff.editing_cycles,
    foreign key (target_file_id, consumed_by_pdcp_log_id)
    references patchdiff.append_only_pdcp_logs (target_file_id, pdcp_log_id),
    check ((observation_bundle_id is null) = (ordinal is null)),
    check ((consumed_by_pdcp_log_id is null) = (consumed_at is null))
);
create index target_scope_observations_consumed_by
on patchdiff.target_scope_observations (target_file_id, consumed_by_pdcp_log_id)
where consumed_by_pdcp_log_id is not null;
comment on table patchdiff.target_scope_observations is
'Receipts of observed scopes: what was seen, on which version, and which attempt used it.';
comment on column patchdiff.target_scope_observations.target_file_id is 'The target.';
comment on column patchdiff.target_scope_observations.observation_id is
'The receipt''s identity within the target.';
comment on column patchdiff.target_scope_observations.observation_bundle_id is
'The bundle it belongs to, or null for a single observation.';
comment on column patchdiff.target_scope_observations.ordinal is
'One-based place in its bundle, or null for a single observation.';
comment on column patchdiff.target_scope_observations.editing_cycle_id is 'The cycle it was issued in.';
comment on column patchdiff.target_scope_observations.target_version is 'The version that was observed.';
comment on column patchdiff.target_scope_observations.target_current_hash is 'The hash that was observed.';
comment on column patchdiff.target_scope_observations.engine is 'Identity of the structural engine.';
comment on column patchdiff.target_scope_observations.language is 'Language the engine read the text as.';
comment on column patchdiff.target_scope_observations.symbol_name is 'Name of the observed symbol.';
comment on column patchdiff.target_scope_observations.symbol_kind is 'Kind of the observed symbol.';
comment on column patchdiff.target_scope_observations.scope_start is
'First code point of the scope in the observed text.';
comment on column patchdiff.target_scope_observations.scope_end is
'Code point after the last of the scope in the observed text.';
comment on column patchdiff.target_scope_observations.observed_scope_hash is
'Lowercase hex SHA-256 of the UTF-8 bytes of the scope.';
comment on column patchdiff.target_scope_observations.consumed_by_pdcp_log_id is
'The accepted attempt that used the receipt, or null.';
comment on column patchdiff.target_scope_observations.consumed_at is 'When it was used, or null.';
comment on column patchdiff.target_scope_observations.created_at is 'When it was issued.';
